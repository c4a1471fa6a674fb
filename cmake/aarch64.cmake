# CMake toolchain: aarch64 with Debian's cross compiler, libraries from the folder that tools/sysroot.sh fills, tests
# under qemu-user. The sysroot is in the build folder and does not touch the system.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)

# try_compile runs this file in its own folder, so the path is passed on.
if(NOT IFM_SYSROOT)
  set(IFM_SYSROOT ${CMAKE_BINARY_DIR}/sysroot)
endif()
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES IFM_SYSROOT)
if(NOT EXISTS ${IFM_SYSROOT}/.packages)
  message(FATAL_ERROR "no libraries for aarch64 in ${IFM_SYSROOT}: run tools/sysroot.sh ${IFM_SYSROOT} first")
endif()
set(CMAKE_SYSROOT ${IFM_SYSROOT})
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(ENV{PKG_CONFIG_DIR} "")
set(ENV{PKG_CONFIG_LIBDIR} ${IFM_SYSROOT}/usr/lib/aarch64-linux-gnu/pkgconfig:${IFM_SYSROOT}/usr/share/pkgconfig)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${IFM_SYSROOT})

# ctest starts each test program with it, and gives it the same libraries.
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -L ${IFM_SYSROOT})
