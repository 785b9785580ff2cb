# Compile flags of every target. The ones that decide bits are asserted by scripts/check_build.py.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

set(LOCKSTEP_SANITIZE "" CACHE STRING "Sanitizers, e.g. address,undefined or thread")
option(LOCKSTEP_WERROR "Treat warnings as errors" ON)
option(LOCKSTEP_EMULATE_AVX512 "Run the AVX-512 kernels on AVX2, through SIMDe: for checks, slow" OFF)
if(LOCKSTEP_EMULATE_AVX512)
  add_compile_definitions(LOCKSTEP_EMULATE_AVX512=1)
endif()

add_compile_options(-Wall -Wextra -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual
                    -ffp-contract=off -fno-fast-math -fvisibility=hidden)
if(LOCKSTEP_WERROR)
  add_compile_options(-Werror)
endif()
if(LOCKSTEP_SANITIZE)
  add_compile_options(-fsanitize=${LOCKSTEP_SANITIZE} -fno-sanitize-recover=all
                      -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${LOCKSTEP_SANITIZE})
endif()

find_program(LOCKSTEP_CCACHE ccache)
if(LOCKSTEP_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${LOCKSTEP_CCACHE})
endif()
find_program(LOCKSTEP_MOLD mold)
if(LOCKSTEP_MOLD)
  add_link_options(-fuse-ld=mold)
endif()
add_link_options(-static-libstdc++ -static-libgcc)

find_package(Threads REQUIRED)
find_package(fmt 9.1 REQUIRED)
find_package(Boost 1.81 REQUIRED)
