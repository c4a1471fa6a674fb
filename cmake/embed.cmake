# Text files that the command carries: each file of web/, data/counters/, data/gates/ and data/models/, and
# data/words.txt (src/model/embedded.h), and the records of data/metrics as an enum and tables (src/model/metric.h).
file(GLOB metric_files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/data/metrics/*.txt)
file(GLOB web_files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/web/*.js ${CMAKE_SOURCE_DIR}/web/*.css
     ${CMAKE_SOURCE_DIR}/web/*.html ${CMAKE_SOURCE_DIR}/web/*.svg)
file(GLOB gate_files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/data/gates/*.yaml ${CMAKE_SOURCE_DIR}/data/gates/*.txt)
file(GLOB model_files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/data/models/*.json)
file(GLOB counter_files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/data/counters/*.txt)
list(SORT counter_files)
list(SORT gate_files)
list(SORT model_files)
list(SORT metric_files)
list(SORT web_files)
set(embedded_c ${CMAKE_BINARY_DIR}/generated/embedded.c)
# A list crosses the command line with its semicolons made commas.
string(JOIN "," metric_arg ${metric_files})
string(JOIN "," web_arg ${web_files})
string(JOIN "," gates_arg ${gate_files})
string(JOIN "," models_arg ${model_files})
string(JOIN "," counters_arg ${counter_files})
add_custom_command(
  OUTPUT ${embedded_c}
  COMMAND ${CMAKE_COMMAND} -DOUT=${embedded_c} "-DWEB=${web_arg}" "-DGATES=${gates_arg}" "-DMODELS=${models_arg}"
          "-DCOUNTERS=${counters_arg}" -DWORDS=${CMAKE_SOURCE_DIR}/data/words.txt
          -P ${CMAKE_SOURCE_DIR}/cmake/write_embedded.cmake
  DEPENDS ${web_files} ${counter_files} ${gate_files} ${model_files} ${CMAKE_SOURCE_DIR}/data/words.txt
          ${CMAKE_SOURCE_DIR}/cmake/write_embedded.cmake
  COMMENT "Embedding data/counters, data/gates, data/models, data/words.txt and web"
  VERBATIM)
set(metric_ids_h ${CMAKE_BINARY_DIR}/generated/model/metric_ids.h)
set(metrics_c ${CMAKE_BINARY_DIR}/generated/metrics.c)
add_custom_command(
  OUTPUT ${metric_ids_h} ${metrics_c}
  COMMAND ${CMAKE_COMMAND} -DHEADER=${metric_ids_h} -DSOURCE=${metrics_c} "-DMETRICS=${metric_arg}"
          -P ${CMAKE_SOURCE_DIR}/cmake/write_metrics.cmake
  DEPENDS ${metric_files} ${CMAKE_SOURCE_DIR}/cmake/write_metrics.cmake
  COMMENT "Generating the metrics of data/metrics"
  VERBATIM)
target_sources(ifm PRIVATE ${embedded_c} ${metric_ids_h} ${metrics_c})
target_include_directories(ifm PUBLIC ${CMAKE_BINARY_DIR}/generated)
