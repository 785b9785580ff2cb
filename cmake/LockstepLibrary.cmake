# lockstep_library(NAME module
#   SRCS a.cc ...        compiled once for the baseline processor
#   ISA_SRCS b.cc ...    compiled once per instruction set of this architecture (see below)
#   HDRS a.h ...
#   DEPS base ...        other modules
#   LIBS fmt::fmt ...    third-party libraries
#   TESTS a_test.cc ...) one executable NAME_test, discovered by ctest
#
# An ISA source sees LOCKSTEP_ISA_<NAME> and LOCKSTEP_ISA (the namespace that its functions live in).
# It is optimised in every build type: unoptimised intrinsics leave weak copies of standard inline
# functions behind, and the linker could pick one that the baseline processor cannot run.

if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set(LOCKSTEP_ISAS scalar avx2 avx512)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
  set(LOCKSTEP_ISAS scalar neon)
else()
  set(LOCKSTEP_ISAS scalar)
endif()
set(LOCKSTEP_ISA_FLAGS_scalar "")
set(LOCKSTEP_ISA_FLAGS_avx2 -mavx2 -mfma -mf16c)
set(LOCKSTEP_ISA_FLAGS_avx512 -mavx2 -mfma -mf16c -mavx512f -mavx512bw -mavx512dq -mavx512vl
    -mavx512vnni)
if(LOCKSTEP_EMULATE_AVX512)
  set(LOCKSTEP_ISA_FLAGS_avx512 ${LOCKSTEP_ISA_FLAGS_avx2} -Wno-psabi
      -include ${PROJECT_SOURCE_DIR}/src/kernels/simd/avx512_simde.h)
endif()
# g++ 12 takes the undefined vectors inside its own AVX-512 intrinsics for uninitialised variables.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  list(APPEND LOCKSTEP_ISA_FLAGS_avx512 -Wno-uninitialized -Wno-maybe-uninitialized)
endif()
set(LOCKSTEP_ISA_FLAGS_neon -march=armv8.2-a+dotprod)

function(lockstep_library)
  cmake_parse_arguments(ARG "" "NAME" "SRCS;ISA_SRCS;HDRS;DEPS;LIBS;TESTS" ${ARGN})
  set(target lockstep_${ARG_NAME})
  list(TRANSFORM ARG_DEPS PREPEND lockstep_ OUTPUT_VARIABLE deps)
  set(objects "")
  foreach(isa IN LISTS LOCKSTEP_ISAS)
    if(ARG_ISA_SRCS)
      string(TOUPPER ${isa} upper)
      add_library(${target}_${isa} OBJECT ${ARG_ISA_SRCS})
      target_include_directories(${target}_${isa} PRIVATE ${PROJECT_SOURCE_DIR}/src)
      target_compile_definitions(${target}_${isa} PRIVATE LOCKSTEP_ISA_${upper}=1 LOCKSTEP_ISA=${isa})
      target_compile_options(${target}_${isa} PRIVATE -O2 ${LOCKSTEP_ISA_FLAGS_${isa}})
      list(APPEND objects $<TARGET_OBJECTS:${target}_${isa}>)
    endif()
  endforeach()
  add_library(${target} STATIC ${ARG_SRCS} ${ARG_HDRS} ${objects})
  set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX)
  target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(${target} PUBLIC ${deps} PRIVATE ${ARG_LIBS} Threads::Threads)
  if(ARG_TESTS AND LOCKSTEP_BUILD_TESTS)
    add_executable(${ARG_NAME}_test ${ARG_TESTS})
    target_link_libraries(${ARG_NAME}_test PRIVATE ${target} ${ARG_LIBS} GTest::gtest_main)
    target_compile_definitions(${ARG_NAME}_test PRIVATE
                               LOCKSTEP_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
    gtest_discover_tests(${ARG_NAME}_test TEST_PREFIX ${ARG_NAME}. DISCOVERY_MODE PRE_TEST
                         PROPERTIES TIMEOUT 600)
  endif()
endfunction()
