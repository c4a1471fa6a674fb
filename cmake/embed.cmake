# Text files that the command carries: data/metrics/*.txt in one piece, and each file of web/ and
# data/gates/ under its name. The symbols are declared in src/document/embedded.h and src/model/embedded.h.
file(GLOB metric_files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/data/metrics/*.txt)
file(GLOB web_files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/web/*.js ${CMAKE_SOURCE_DIR}/web/*.css
     ${CMAKE_SOURCE_DIR}/web/*.html ${CMAKE_SOURCE_DIR}/web/*.svg)
file(GLOB gate_files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/data/gates/*.yaml ${CMAKE_SOURCE_DIR}/data/gates/*.txt)
list(SORT gate_files)
list(SORT metric_files)
list(SORT web_files)
set(embedded_c ${CMAKE_BINARY_DIR}/generated/embedded.c)
# A list crosses the command line with its semicolons made commas.
string(JOIN "," metric_arg ${metric_files})
string(JOIN "," web_arg ${web_files})
string(JOIN "," gates_arg ${gate_files})
add_custom_command(
  OUTPUT ${embedded_c}
  COMMAND ${CMAKE_COMMAND} -DOUT=${embedded_c} "-DMETRICS=${metric_arg}" "-DWEB=${web_arg}" "-DGATES=${gates_arg}"
          -P ${CMAKE_SOURCE_DIR}/cmake/write_embedded.cmake
  DEPENDS ${metric_files} ${web_files} ${gate_files} ${CMAKE_SOURCE_DIR}/cmake/write_embedded.cmake
  COMMENT "Embedding data/metrics, data/gates and web"
  VERBATIM)
target_sources(ifm PRIVATE ${embedded_c})
