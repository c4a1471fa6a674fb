# cmake -DSOURCE=... -DHEADER=... -P write_revision.cmake: write the header of cmake/revision.cmake when it changed.
set(text "/* Outside git: nothing is known. */\n")
find_program(git git)
if(git)
  execute_process(
    COMMAND ${git} -C ${SOURCE} rev-parse --verify HEAD
    OUTPUT_VARIABLE head OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
  if(NOT failed)
    set(text "#define IFM_GIT_REVISION \"${head}\"\n")
    execute_process(
      COMMAND ${git} -C ${SOURCE} status --porcelain --untracked-files=no
      OUTPUT_VARIABLE changes ERROR_QUIET RESULT_VARIABLE failed)
    if(NOT failed AND changes)
      string(APPEND text "#define IFM_GIT_DIRTY 1\n")
    elseif(NOT failed)
      string(APPEND text "#define IFM_GIT_DIRTY 0\n")
    endif()
    execute_process(
      COMMAND ${git} -C ${SOURCE} symbolic-ref --quiet --short HEAD
      OUTPUT_VARIABLE branch OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
    if(NOT failed AND branch MATCHES "^[A-Za-z0-9._/-]+$")
      string(APPEND text "#define IFM_GIT_BRANCH \"${branch}\"\n")
    endif()
  endif()
endif()
set(old "")
if(EXISTS ${HEADER})
  file(READ ${HEADER} old)
endif()
if(NOT text STREQUAL old)
  file(WRITE ${HEADER} "${text}")
endif()
