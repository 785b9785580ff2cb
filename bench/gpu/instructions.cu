// Do mma.sync and wgmma, in every operand role, give the same bits? And how do they sum?
#include <cmath>
#include <cstring>
#include <random>

#include "base/float16.h"
#include "bench/gpu/harness.cuh"
#include "bench/gpu/studies.h"
#include "kernels/cuda/bf16.cuh"
#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/self_test.h"
#include "kernels/cuda/tile_products.cuh"

namespace lockstep::gpu_study {
namespace {

using cuda::Form;
using cuda::kForms;
using cuda::kProbe;

template <Form kForm>
__global__ void __launch_bounds__(128)
    probe(const uint16_t* w, const uint16_t* x, int columns, float* y) {
  __shared__ __align__(1024) uint8_t shared[16384];
  cuda::tile_product<kForm>(w, x, columns, y, shared);
}

enum class Kind { kNormal, kIntegers, kCancelling, kSubnormal, kOverflow, kInfinities, kNaNs };
constexpr const char* kKindNames[] = {"normal",   "integers",   "cancelling", "subnormal",
                                      "overflow", "infinities", "NaNs"};

float draw(Kind kind, bool weight, int row, int k, std::mt19937& random) {
  std::normal_distribution<float> normal;
  std::uniform_int_distribution<int> pick(0, 1 << 20);
  const float v = normal(random);
  switch (kind) {
    case Kind::kNormal:
      return v;
    case Kind::kIntegers:
      return weight ? static_cast<float>(pick(random) % 256) : v;
    case Kind::kCancelling:  // neighbours cancel, leaving what is 2^20 smaller
      return weight ? (k % 4 < 2 ? 1024.0f : std::ldexp(v, -10))
                    : (k % 4 == 1 ? -1.0f : 1.0f) * (k % 4 < 2 ? 1.0f + row : v);
    case Kind::kSubnormal:
      return std::ldexp(v, k % 3 == 0 ? -130 : k % 3 == 1 ? -68 : -20);
    case Kind::kOverflow:
      return std::ldexp(v, 63);
    case Kind::kInfinities:
      return pick(random) % 4096 == 0 ? std::copysign(INFINITY, v) : v;
    case Kind::kNaNs:
      return pick(random) % 4096 == 0 ? NAN : v;
  }
  return v;
}

void run_forms(const DeviceArray<uint16_t>& w, const DeviceArray<uint16_t>& x, int columns,
               std::vector<DeviceArray<float>>& y) {
  const auto start = [&](void (*kernel)(const uint16_t*, const uint16_t*, int, float*), int form) {
    y[form].poison();
    kernel<<<1, 128, 0, study_stream()>>>(w.data(), x.data(), columns, y[form].data());
    require(cudaGetLastError(), "probe");
  };
  start(probe<Form::kWarpWeightsFirst>, 0);
  start(probe<Form::kWarpTokensFirst>, 1);
  start(probe<Form::kGroupRegisters>, 2);
  start(probe<Form::kGroupShared>, 3);
}

// Does the order of the sixteen products inside one step matter?
uint64_t reversed_steps(const std::vector<uint16_t>& w, const std::vector<uint16_t>& x, int columns,
                        const DeviceArray<float>& plain, int within) {
  std::vector<uint16_t> rw(w.size()), rx(x.size());
  for (size_t i = 0; i < w.size(); ++i) {
    const size_t j = i / within * within + (within - 1 - i % within);
    rw[i] = w[j];
    rx[i] = x[j];
  }
  DeviceArray<uint16_t> dw(w.size()), dx(x.size());
  dw.set(rw);
  dx.set(rx);
  DeviceArray<float> y(kProbe * kProbe);
  probe<Form::kWarpWeightsFirst>
      <<<1, 128, 0, study_stream()>>>(dw.data(), dx.data(), columns, y.data());
  return count_differences(y.data(), plain.data(), y.size());
}

void compare_forms() {
  std::mt19937 random(1);
  std::vector<DeviceArray<float>> y;
  for (int i = 0; i < kForms; ++i) y.emplace_back(kProbe * kProbe);
  for (int kind = 0; kind < 7; ++kind) {
    uint64_t differing = 0, reversed[2] = {0, 0}, finite = 0, words = 0;
    for (const int columns : {64, 512, 2048, 4096, 5120, 6144, 17408}) {
      std::vector<uint16_t> w(kProbe * columns), x(kProbe * columns);
      for (size_t i = 0; i < w.size(); ++i) {
        const int row = static_cast<int>(i / columns), k = static_cast<int>(i % columns);
        w[i] = float_to_bf16(draw(static_cast<Kind>(kind), true, row, k, random));
        x[i] = float_to_bf16(draw(static_cast<Kind>(kind), false, row, k, random));
      }
      DeviceArray<uint16_t> dw(w.size()), dx(x.size());
      dw.set(w);
      dx.set(x);
      run_forms(dw, dx, columns, y);
      for (int form = 1; form < kForms; ++form)
        differing += count_differences(y[0].data(), y[form].data(), y[0].size());
      reversed[0] += reversed_steps(w, x, columns, y[0], 8);
      reversed[1] += reversed_steps(w, x, columns, y[0], 16);
      for (const float v : y[0].host()) finite += std::isfinite(v);
      words += y[0].size();
    }
    print(
        "%-11s differing words of 3 forms against mma.sync weights-first: %llu of %llu; finite "
        "%llu; "
        "order reversed inside 8: %llu, inside 16: %llu\n",
        kKindNames[kind], static_cast<unsigned long long>(differing),
        static_cast<unsigned long long>(3 * words), static_cast<unsigned long long>(finite),
        static_cast<unsigned long long>(reversed[0]), static_cast<unsigned long long>(reversed[1]));
    check(differing == 0, std::string("instruction forms differ: ") + kKindNames[kind]);
  }
}

// All float32 values by the hardware's conversion to bf16 and by our integer rounding; NaNs may
// differ in their payload.
__global__ void compare_rounding(unsigned long long* differing) {
  const uint64_t step = uint64_t{gridDim.x} * blockDim.x;
  for (uint64_t i = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < 0x100000000u; i += step) {
    const float value = __uint_as_float(static_cast<uint32_t>(i));
    uint32_t pair;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(0.0f), "f"(value));
    const uint32_t ours = cuda::float_to_bf16(value);
    const bool both_nan = (ours & 0x7fffu) > 0x7f80u && (pair & 0x7fffu) > 0x7f80u;
    if (pair != ours && !both_nan) atomicAdd(differing, 1ull);
  }
}

void check_rounding() {
  DeviceArray<unsigned long long> differing(1);
  differing.set({0});
  compare_rounding<<<2112, 256, 0, study_stream()>>>(differing.data());
  require(cudaGetLastError(), "rounding");
  const auto count = differing.host()[0];
  print(
      "cvt.rn.bf16x2 against integer rounding, all 2^32 values: %llu differ beside NaN payloads\n",
      count);
  check(count == 0, "cvt.rn.bf16x2 differs from integer rounding");
}

// One product of 1 and fifteen of 2^-j in a step: which of them survive the alignment?
void measure_alignment() {
  print("one step of 1 + 15 * 2^-j, result minus 1 in units of 2^-j:");
  for (int j = 20; j <= 28; ++j) {
    std::vector<uint16_t> w(kProbe * 64, 0), x(kProbe * 64, 0);
    for (int row = 0; row < kProbe; ++row)
      for (int k = 0; k < 16; ++k) {
        w[row * 64 + k] = float_to_bf16(1.0f);
        x[row * 64 + k] = float_to_bf16(k == 0 ? 1.0f : std::ldexp(1.0f, -j));
      }
    DeviceArray<uint16_t> dw(w.size()), dx(x.size());
    dw.set(w);
    dx.set(x);
    DeviceArray<float> y(kProbe * kProbe);
    probe<Form::kGroupRegisters><<<1, 128, 0, study_stream()>>>(dw.data(), dx.data(), 64, y.data());
    print("  j=%d: %.2f", j, std::ldexp(y.host(0, 1)[0] - 1.0, j));
  }
  print("\n");
}

}  // namespace

void study_instructions() {
  print("\n## Instructions\n");
  compare_forms();
  measure_alignment();
  check_rounding();
  const Timing t = time_each(5, [] { require(cuda::self_test(study_stream())); });
  print("start self-test: passed in %.0f us (%.0f to %.0f)\n", t.median, t.least, t.most);
}

}  // namespace lockstep::gpu_study
