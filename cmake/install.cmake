# The command, its man page and its completions, all from one binary; and a Debian package of them (packaging/).
include(GNUInstallDirs)
install(TARGETS inferometer RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
# Beside no other library: `inferometer trace` finds it from its own path.
if(TARGET inferometer_trace)
  install(TARGETS inferometer_trace LIBRARY DESTINATION lib/inferometer)
endif()

# The command writes these texts from its parameter tables. Not part of `all`: a sanitizer build need not run.
add_custom_target(
  generated_pages
  COMMAND sh -c "$<TARGET_FILE:inferometer> man > generated/inferometer.1"
  COMMAND sh -c "gzip -9n < generated/inferometer.1 > generated/inferometer.1.gz"
  COMMAND sh -c "gzip -9n < ${CMAKE_SOURCE_DIR}/packaging/changelog > generated/changelog.gz"
  COMMAND sh -c "for s in bash zsh fish; do $<TARGET_FILE:inferometer> completion $s > generated/inferometer.$s; done"
  WORKING_DIRECTORY ${CMAKE_BINARY_DIR}
  COMMENT "Writing the man page and the completions"
  VERBATIM)
add_dependencies(generated_pages inferometer)
set(generated ${CMAKE_BINARY_DIR}/generated)
install(FILES ${generated}/inferometer.1.gz DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 OPTIONAL)
install(FILES ${generated}/inferometer.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
        RENAME inferometer OPTIONAL)
install(FILES ${generated}/inferometer.zsh DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions
        RENAME _inferometer OPTIONAL)
install(FILES ${generated}/inferometer.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d OPTIONAL)
install(FILES ${CMAKE_SOURCE_DIR}/packaging/copyright DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES ${generated}/changelog.gz DESTINATION ${CMAKE_INSTALL_DOCDIR} OPTIONAL)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/examples DESTINATION ${CMAKE_INSTALL_DOCDIR} OPTIONAL)
install(FILES ${CMAKE_SOURCE_DIR}/packaging/lintian-overrides
        DESTINATION ${CMAKE_INSTALL_DATADIR}/lintian/overrides RENAME inferometer)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME inferometer)
set(CPACK_PACKAGE_CONTACT "Inferometer developers <developers@inferometer.invalid>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE
    WORLD_READ WORLD_EXECUTE)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "measurement lab for LLM inference")
file(READ ${CMAKE_SOURCE_DIR}/packaging/description CPACK_DEBIAN_PACKAGE_DESCRIPTION)
string(REGEX REPLACE "\n+$" "" CPACK_DEBIAN_PACKAGE_DESCRIPTION "${CPACK_DEBIAN_PACKAGE_DESCRIPTION}")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# For programs that link the library, and for the loader's cache.
configure_file(packaging/shlibs.in ${generated}/shlibs @ONLY)
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${generated}/shlibs ${CMAKE_SOURCE_DIR}/packaging/triggers)
# Opened at run time, so shlibdeps does not find it.
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS libopenblas0-pthread)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS python3) # for inferometer.py
include(CPack)
