# Facts about this binary for src/host and src/base/program.c: git revision and branch, uncommitted changes, flags.
#
# The revision is read at every build, not at configure time, and its header is rewritten only when it changed, so that
# an unchanged tree rebuilds nothing. Both see, by a forced include:
#   IFM_GIT_REVISION  "<40 hex digits>"; not defined outside git
#   IFM_GIT_DIRTY     1 or 0; not defined outside git
#   IFM_GIT_BRANCH    "main"; not defined outside git, on no branch, and where its name has other characters
#   IFM_BUILD_FLAGS   compiler flags of this build, as text
#   IFM_BUILD_TYPE    "Release", ...
set(revision_dir ${CMAKE_BINARY_DIR}/generated)
set(revision_header ${revision_dir}/revision.h)
add_custom_target(
  ifm_revision
  COMMAND ${CMAKE_COMMAND} -DSOURCE=${CMAKE_SOURCE_DIR} -DHEADER=${revision_header}
          -P ${CMAKE_SOURCE_DIR}/cmake/write_revision.cmake
  BYPRODUCTS ${revision_header}
  COMMENT "")
add_dependencies(ifm ifm_revision)

string(TOUPPER "${CMAKE_BUILD_TYPE}" build_type_upper)
set(build_flags "${CMAKE_C_FLAGS} ${CMAKE_C_FLAGS_${build_type_upper}}")
if(IFM_SANITIZE)
  string(APPEND build_flags " -fsanitize=${IFM_SANITIZE}")
endif()
string(STRIP "${build_flags}" build_flags)
file(GLOB host_sources CONFIGURE_DEPENDS src/host/*.c src/base/program.c)
set_source_files_properties(
  ${host_sources} PROPERTIES COMPILE_OPTIONS "-include;${revision_header}"
  COMPILE_DEFINITIONS "IFM_BUILD_FLAGS=\"${build_flags}\";IFM_BUILD_TYPE=\"${CMAKE_BUILD_TYPE}\"")
