// The limits of the card, measured in the same run as everything held against them.
#include <dlfcn.h>

#include "bench/gpu/harness.cuh"
#include "bench/gpu/studies.h"
#include "kernels/cuda/mma.cuh"

namespace lockstep::gpu_study {
namespace {

constexpr size_t kBytes = size_t{4} << 30;

__global__ void __launch_bounds__(512) read_only(const uint8_t* in, size_t vectors, uint32_t* out) {
  uint32_t sum = 0;
  const size_t step = size_t{gridDim.x} * blockDim.x * 4;
  for (size_t i = size_t{blockIdx.x} * blockDim.x * 4 + threadIdx.x; i < vectors; i += step) {
    uint4 v[4];
#pragma unroll
    for (int j = 0; j < 4; ++j) v[j] = cuda::load_stream(in + (i + j * blockDim.x) * 16);
#pragma unroll
    for (int j = 0; j < 4; ++j) sum ^= v[j].x ^ v[j].y ^ v[j].z ^ v[j].w;
  }
  if (sum == 0x12345678u) *out = sum;
}

// The few functions of cuBLAS that serve as a peer, found at run time: the build needs no cuBLAS.
struct Cublas {
  void* handle = nullptr;
  int (*gemm)(void*, int, int, int, int, int, const void*, const void*, int, int, const void*, int,
              int, const void*, void*, int, int, int, int) = nullptr;

  Cublas() {
    void* library = dlopen("libcublas.so.13", RTLD_NOW);
    if (library == nullptr) library = dlopen("libcublas.so", RTLD_NOW);
    if (library == nullptr) return;
    const auto create = reinterpret_cast<int (*)(void**)>(dlsym(library, "cublasCreate_v2"));
    const auto set_stream =
        reinterpret_cast<int (*)(void*, cudaStream_t)>(dlsym(library, "cublasSetStream_v2"));
    gemm = reinterpret_cast<decltype(gemm)>(dlsym(library, "cublasGemmEx"));
    if (create == nullptr || create(&handle) != 0 || set_stream(handle, study_stream()) != 0)
      handle = nullptr;
  }
};

}  // namespace

double copy_bandwidth() {
  static const double value = [] {
    DeviceArray<uint32_t> from(kBytes / 4), to(kBytes / 4);
    fill_bits(from.data(), from.size(), 1);
    const Timing t = time_each(10, [&] {
      require(
          cudaMemcpyAsync(to.data(), from.data(), kBytes, cudaMemcpyDeviceToDevice, study_stream()),
          "copy");
    });
    print("copy of 4 GiB: %.0f us (%.0f to %.0f), %.3f TB/s read plus written\n", t.median, t.least,
          t.most, 2e-6 * kBytes / t.median);
    return 2e6 * kBytes / t.median;
  }();
  return value;
}

double read_bandwidth() {
  static const double value = [] {
    DeviceArray<uint32_t> from(kBytes / 4), out(1);
    fill_bits(from.data(), from.size(), 2);
    const Timing t = time_each(10, [&] {
      read_only<<<132 * 4, 512, 0, study_stream()>>>(reinterpret_cast<const uint8_t*>(from.data()),
                                                     kBytes / 16, out.data());
    });
    print("reading 4 GiB: %.0f us (%.0f to %.0f), %.3f TB/s\n", t.median, t.least, t.most,
          1e-6 * kBytes / t.median);
    return 1e6 * kBytes / t.median;
  }();
  return value;
}

double cublas_bf16_rate(int m, int n, int k) {
  static const Cublas cublas;
  if (cublas.handle == nullptr || cublas.gemm == nullptr) return 0;
  DeviceArray<uint16_t> a(size_t(m) * k), b(size_t(n) * k), c(size_t(m) * n);
  fill_normal_bf16(a.data(), a.size(), 1, 3);
  fill_normal_bf16(b.data(), b.size(), 0.02f, 4);
  const float one = 1, zero = 0;
  // y[m, n] row-major = column-major [n, m]; both operands are K-contiguous.
  const auto run = [&] {
    constexpr int kTransposed = 1, kPlain = 0, kBf16 = 14, kCompute32F = 68, kDefault = -1;
    const int status =
        cublas.gemm(cublas.handle, kTransposed, kPlain, n, m, k, &one, b.data(), kBf16, k, a.data(),
                    kBf16, k, &zero, c.data(), kBf16, n, kCompute32F, kDefault);
    check(status == 0, "cublasGemmEx");
  };
  run();
  const Timing t = time_each(8, run);
  return 2e6 * m * n * k / t.median;
}

void study_ceilings() {
  print("\n## Limits\n");
  copy_bandwidth();
  read_bandwidth();
  print("cuBLAS bf16 8192 x 8192 x 8192: %.0f TFLOP/s\n",
        cublas_bf16_rate(8192, 8192, 8192) * 1e-12);
}

}  // namespace lockstep::gpu_study
