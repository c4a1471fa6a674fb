# libinferometer: the session API as a shared library, from the objects of the command. Only inferometer_* is exported.
# Not in a sanitizer or fuzz build: their runtime would have to be loaded into every program before the library.
if(IFM_SANITIZE OR IFM_FUZZ)
  return()
endif()
# Debian's folder of this architecture, where its linker and pkg-config look, for every prefix: GNUInstallDirs sets it
# only for /usr, and a package has another prefix than its build.
if(NOT DEFINED CMAKE_INSTALL_LIBDIR AND CMAKE_LIBRARY_ARCHITECTURE AND EXISTS /etc/debian_version)
  set(CMAKE_INSTALL_LIBDIR lib/${CMAKE_LIBRARY_ARCHITECTURE} CACHE PATH "folder of libraries below the prefix")
endif()
include(GNUInstallDirs)
set(session_map ${CMAKE_SOURCE_DIR}/cmake/libinferometer.map)
file(GLOB session_sources CONFIGURE_DEPENDS src/session/*.c)
add_library(inferometer_library SHARED ${session_sources})
set_target_properties(
  inferometer_library
  PROPERTIES OUTPUT_NAME inferometer VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}
             C_VISIBILITY_PRESET hidden LINK_DEPENDS ${session_map})
target_link_libraries(inferometer_library PRIVATE ifm)
ifm_harden(inferometer_library)
target_link_options(inferometer_library PRIVATE -Wl,--version-script=${session_map} -Wl,--no-undefined
                    -Wl,--exclude-libs,ALL)
# The prefix is relative to the file, so that a package may use another one than the build.
file(RELATIVE_PATH session_up /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
configure_file(cmake/inferometer.pc.in ${CMAKE_BINARY_DIR}/generated/inferometer.pc @ONLY)
install(TARGETS inferometer_library LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
# One file over the library. Debian's Python looks there, for every version of it.
install(FILES python/inferometer.py DESTINATION lib/python3/dist-packages)
install(DIRECTORY include/inferometer DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES ${CMAKE_BINARY_DIR}/generated/inferometer.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
