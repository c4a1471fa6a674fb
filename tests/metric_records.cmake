# cmake -DSOURCE_DIR=... -DWORK=... -P metric_records.cmake: what the build says of a bad record of data/metrics. One
# error each, with file and line; the same record without the fault is accepted, so that the fault is what is found.
set(good "id: a_ns\nunit: ns\nclass: time\nbetter: lower\nrounding: interval\ncolumns: arms 1 0 time; energy 2 1 x[0]\n\
scope: arm\nformula: f[1]; \"g\"\nsource: s\nlimits: l\nprose: p\n  and more\n\nid: b\nunit: count\nclass: count\n\
better: none: why\ninstead: a_ns\nrounding: plain\nscope: cell\nformula: f\nsource: s\nlimits: l\nprose: p")

function(generate text out_code out_error)
  file(REMOVE_RECURSE ${WORK})
  file(WRITE ${WORK}/x.txt "${text}")
  execute_process(COMMAND ${CMAKE_COMMAND} -DHEADER=${WORK}/x.h -DSOURCE=${WORK}/x.c -DMETRICS=${WORK}/x.txt
                          -P ${SOURCE_DIR}/cmake/write_metrics.cmake
                  RESULT_VARIABLE code ERROR_VARIABLE error OUTPUT_QUIET)
  set(${out_code} ${code} PARENT_SCOPE)
  set(${out_error} "${error}" PARENT_SCOPE)
endfunction()

generate("${good}" code error)
if(NOT code EQUAL 0)
  message(FATAL_ERROR "the good records are refused: ${error}")
endif()
file(READ ${WORK}/x.c source)
foreach(wanted "\"f[1]; \\\"g\\\"\"" "\"p and more\""
        "IFM_BETTER_NONE, \"why\", IFM_M_A_NS" "{\"x[0]\", IFM_M_A_NS, 1}")
  string(FIND "${source}" "${wanted}" at)
  if(at EQUAL -1)
    message(FATAL_ERROR "the table lacks ${wanted}:\n${source}")
  endif()
endforeach()

function(refused from to wanted)
  string(REPLACE "${from}" "${to}" text "${good}")
  if(text STREQUAL good)
    message(FATAL_ERROR "\"${from}\" is not in the good records")
  endif()
  generate("${text}" code error)
  string(FIND "${error}" "data/metrics/x.txt:${wanted}" at)
  if(code EQUAL 0 OR at EQUAL -1 OR EXISTS ${WORK}/x.h)
    message(FATAL_ERROR "\"${to}\" for \"${from}\": wanted ${wanted}, got ${code}: ${error}")
  endif()
endfunction()

refused("limits: l\nprose: p\n  and" "prose: p\n  and" "1: the record of \"a_ns\" has no limits")
refused("class: count" "class: cuont" "16: class: \"cuont\" is not one of count, time, rate")
refused("rounding: plain" "rounding: exact" "19: rounding: \"exact\" is not one of")
refused("scope: cell" "scope: box" "20: scope: \"box\" is not one of arm, cell, run")
refused("better: lower" "better: less" "4: better: \"less\" is not lower, higher, or none: and the reason")
refused("none: why" "none" "17: better: \"none\" is not lower")
refused("id: b" "id: a_ns" "14: id: \"a_ns\" has a record at data/metrics/x.txt:1 already")
refused("id: b" "id: B-1" "14: id: \"B-1\" is not made of")
refused("unit: count" "unti: count" "15: key: \"unti\" is not one of id, unit")
refused("unit: count" "unit: count\nunit: ns" "16: unit: given twice")
refused("unit: count" "unit count" "15: a line without a colon")
refused("id: b\n" "  more\nid: b\n" "14: a line that goes on with nothing")
refused("instead: a_ns" "instead: b" "18: instead: \"b\" is not a metric that is better lower or higher")
refused("better: lower" "better: lower\ninstead: b" "5: instead: only a metric with better: none")
refused("arms 1 0 time" "arms one 0 time" "6: columns: \"arms one 0 time\" is not TABLE PLACE PART HEADING")
refused("arms 1 0 time" "wings 1 0 time" "6: columns: \"wings\" is not one of arms")
refused("arms 1 0 time" "energy 2 0 time" "6: columns: place 2 of energy is that of a_ns already")
