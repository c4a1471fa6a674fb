# What a memory error meets in the command and the library: stack protector, checked string functions, read-only
# relocations, a position-independent executable. ifm_harden(TARGET); tests/e2e/hardening.sh reads the executable.
#
# Not for kernels (src/kernel/cpu): they take no text and no file, and are what is measured. Not for a build without an
# optimizer, where nothing could be checked, nor under sanitizers, which look at more.
include(CheckCCompilerFlag)
include(CheckCSourceCompiles)
include(CheckPIESupported)

add_library(ifm_hardening INTERFACE)
if(CMAKE_BUILD_TYPE MATCHES "^(Release|RelWithDebInfo|MinSizeRel)$" AND NOT IFM_SANITIZE)
  check_pie_supported(LANGUAGES C)
  foreach(flag -fstack-protector-strong -fstack-clash-protection -fcf-protection -mbranch-protection=standard)
    string(MAKE_C_IDENTIFIER "IFM_HAS${flag}" has)
    set(CMAKE_REQUIRED_FLAGS -Werror) # clang only warns of a flag that its target lacks
    check_c_compiler_flag(${flag} ${has})
    set(CMAKE_REQUIRED_FLAGS "")
    if(${has})
      target_compile_options(ifm_hardening INTERFACE ${flag})
    endif()
  endforeach()
  set(CMAKE_REQUIRED_FLAGS "-O2 -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3")
  check_c_source_compiles(
    "#include <string.h>
     _Static_assert(__USE_FORTIFY_LEVEL == 3, \"\");
     int main(void) { return 0; }" IFM_HAS_FORTIFY_3)
  set(CMAKE_REQUIRED_FLAGS "")
  set(level 2)
  if(IFM_HAS_FORTIFY_3)
    set(level 3)
  endif()
  target_compile_options(ifm_hardening INTERFACE -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=${level})
  target_link_options(ifm_hardening INTERFACE -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack)
  set(IFM_HARDENED ON)
endif()

function(ifm_harden target)
  target_link_libraries(${target} PRIVATE ifm_hardening)
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
endfunction()
