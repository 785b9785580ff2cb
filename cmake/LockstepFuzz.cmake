# lockstep_fuzzer(NAME target SOURCES a.cc ... LIBS ...)   the program NAME_fuzz, with libFuzzer
#
# Sources are paths below src/, the fuzz target first. They are compiled here once more, for coverage
# and the sanitizers; the libraries of the modules would bring in far more than a target needs.
function(lockstep_fuzzer)
  cmake_parse_arguments(ARG "" "NAME" "SOURCES;LIBS" ${ARGN})
  list(TRANSFORM ARG_SOURCES PREPEND ${PROJECT_SOURCE_DIR}/src/)
  add_executable(${ARG_NAME}_fuzz ${ARG_SOURCES})
  target_include_directories(${ARG_NAME}_fuzz PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_compile_definitions(${ARG_NAME}_fuzz PRIVATE FMT_HEADER_ONLY=1)
  target_compile_options(${ARG_NAME}_fuzz PRIVATE -fsanitize=fuzzer-no-link)
  target_link_options(${ARG_NAME}_fuzz PRIVATE -fsanitize=fuzzer)
  target_link_libraries(${ARG_NAME}_fuzz PRIVATE ${ARG_LIBS} Threads::Threads)
  set_target_properties(${ARG_NAME}_fuzz PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
endfunction()
