# Builds for AArch64 on Debian x86-64, with Debian's cross compiler and its arm64 libraries; programs
# run under qemu-user.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static)
# Debian's mold is not where this compiler looks for its linker.
set(LOCKSTEP_MOLD OFF CACHE FILEPATH "")
