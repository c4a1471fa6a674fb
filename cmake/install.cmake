# The command, its man page and its completion, all from one binary; and a Debian package of them.
include(GNUInstallDirs)
install(TARGETS inferometer RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(FILES ${CMAKE_SOURCE_DIR}/include/inferometer/plugin.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/inferometer)

# Both texts come from the parameter table, so the command writes them itself. Not part of `all`: a sanitizer build
# need not run.
add_custom_target(
  generated_pages
  COMMAND sh -c "$<TARGET_FILE:inferometer> man > generated/inferometer.1"
  COMMAND sh -c "$<TARGET_FILE:inferometer> completion bash > generated/inferometer.bash"
  WORKING_DIRECTORY ${CMAKE_BINARY_DIR}
  COMMENT "Writing the man page and the completion"
  VERBATIM)
add_dependencies(generated_pages inferometer)
install(FILES ${CMAKE_BINARY_DIR}/generated/inferometer.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 OPTIONAL)
install(FILES ${CMAKE_BINARY_DIR}/generated/inferometer.bash
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME inferometer OPTIONAL)
install(FILES ${CMAKE_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/examples DESTINATION ${CMAKE_INSTALL_DOCDIR} OPTIONAL)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME inferometer)
set(CPACK_PACKAGE_CONTACT "Inferometer developers")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
include(CPack)
