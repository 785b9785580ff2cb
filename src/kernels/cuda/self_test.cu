#include "kernels/cuda/self_test.h"

#include <string>

#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/tile_products.cuh"
#include "kernels/linear/cuda_linear.h"

namespace lockstep::cuda {
namespace {

constexpr int kColumns = 1024;                 // of the probe
constexpr int kKinds = 4;                      // of its values
constexpr int kOutputs = 256, kInputs = 2048;  // of the products
constexpr int kManyRows = 130, kFewRows = 5;

__device__ uint32_t hash(uint32_t i) {
  i = (i ^ (i >> 16)) * 0x7feb352du;
  i = (i ^ (i >> 15)) * 0x846ca68bu;
  return i ^ (i >> 16);
}

// bf16 bits: sign and mantissa at random, the exponent as the kind wants it.
__global__ void fill_probe(uint16_t* values) {
  const int count = 2 * kProbe * kColumns;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < kKinds * count;
       i += gridDim.x * blockDim.x) {
    const uint32_t r = hash(i);
    const int kind = i / count;
    uint32_t exponent = 120 + r % 12;                // ordinary, signs mixed: cancels
    if (kind == 1) exponent = 100 + r % 60;          // wide range
    if (kind == 2) exponent = r % 80;                // products down into the subnormals
    if (kind == 3 && r % 8192 == 0) exponent = 255;  // infinities and NaNs
    values[i] = static_cast<uint16_t>((r >> 8 & 0x807f) | exponent << 7);
  }
}

__global__ void __launch_bounds__(128) probe_forms(const uint16_t* values, float* y) {
  __shared__ __align__(1024) uint8_t shared[16384];
  const uint16_t* w = values + blockIdx.x * 2 * kProbe * kColumns;
  float* out = y + (blockIdx.x * kForms + blockIdx.y) * kProbe * kProbe;
  const uint16_t* x = w + kProbe * kColumns;
  if (blockIdx.y == 0) tile_product<Form::kWarpWeightsFirst>(w, x, kColumns, out, shared);
  if (blockIdx.y == 1) tile_product<Form::kWarpTokensFirst>(w, x, kColumns, out, shared);
  if (blockIdx.y == 2) tile_product<Form::kGroupRegisters>(w, x, kColumns, out, shared);
  if (blockIdx.y == 3) tile_product<Form::kGroupShared>(w, x, kColumns, out, shared);
}

__global__ void compare_forms(const float* y, uint32_t* differences) {
  const int form = 1 + blockIdx.y;
  const float* base = y + blockIdx.x * kForms * kProbe * kProbe;
  for (int i = threadIdx.x; i < kProbe * kProbe; i += blockDim.x)
    if (__float_as_uint(base[i]) != __float_as_uint(base[form * kProbe * kProbe + i]))
      atomicAdd(differences + form, 1u);
}

__global__ void fill_product(uint32_t* q, uint16_t* scales, uint16_t* biases, float* x) {
  const int first = blockIdx.x * blockDim.x + threadIdx.x, step = gridDim.x * blockDim.x;
  for (int i = first; i < kOutputs * kInputs / 8; i += step) q[i] = hash(i);
  for (int i = first; i < kOutputs * kInputs / 64; i += step) {
    scales[i] = static_cast<uint16_t>(0x3c00 + hash(i + 77) % 128);  // 2^-7 to 2^-6
    biases[i] = static_cast<uint16_t>(0xbd80 + hash(i + 99) % 128);  // -2^-4 to -2^-3
  }
  for (int i = first; i < kManyRows * kInputs; i += step)
    x[i] = (static_cast<float>(hash(i + 5) >> 8) * 0x1p-24f - 0.5f) * (i % 61 == 0 ? 40.0f : 1.0f);
}

__global__ void compare_rows(const float* few, const float* many, int count,
                             uint32_t* differences) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
    if (__float_as_uint(few[i]) != __float_as_uint(many[i])) atomicAdd(differences, 1u);
}

// One allocation cut into pieces.
class Workspace {
 public:
  ~Workspace() { cudaFree(base_); }
  Status open(size_t bytes) { return status_of(cudaMalloc(&base_, bytes), "self-test memory"); }
  template <typename T>
  T* take(size_t count) {
    T* piece = reinterpret_cast<T*>(static_cast<uint8_t*>(base_) + used_);
    used_ += (count * sizeof(T) + 255) / 256 * 256;
    return piece;
  }

 private:
  void* base_ = nullptr;
  size_t used_ = 0;
};

Status compare_products(Workspace& space, uint32_t* differences, cudaStream_t stream) {
  Affine4Tiles tiles = {.outputs = kOutputs, .inputs = kInputs};
  auto* q = space.take<uint32_t>(kOutputs * kInputs / 8);
  auto* scales = space.take<uint16_t>(kOutputs * kInputs / 64);
  auto* biases = space.take<uint16_t>(kOutputs * kInputs / 64);
  auto* x = space.take<float>(kManyRows * kInputs);
  auto* tile_q = space.take<uint8_t>(tiles.q_bytes());
  auto* tile_scales = space.take<uint8_t>(tiles.scale_bytes());
  auto* tile_biases = space.take<uint8_t>(tiles.scale_bytes());
  auto* rounded = space.take<uint16_t>(kManyRows * kInputs);
  auto* sums = space.take<uint16_t>(kManyRows * sum_columns(kInputs));
  auto* many = space.take<float>(kManyRows * kOutputs);
  auto* few = space.take<float>(kFewRows * kOutputs);
  constexpr Way kWay = Way::kExactIntegers;
  LOCKSTEP_RETURN_IF_ERROR(launch("fill", fill_product, {.grid = dim3(64), .block = dim3(256)},
                                  stream, q, scales, biases, x));
  LOCKSTEP_RETURN_IF_ERROR(pack_affine4(kWay, q, scales, biases, kOutputs, kInputs, tile_q,
                                        tile_scales, tile_biases, stream));
  LOCKSTEP_RETURN_IF_ERROR(
      round_activations(kWay, x, kManyRows, kInputs, rounded, sums, false, stream));
  tiles.q = tile_q;
  tiles.scales = tile_scales;
  tiles.biases = tile_biases;
  LinearArgs args = {.weights = tiles, .in = {rounded, sums, kManyRows}, .out = many};
  LOCKSTEP_RETURN_IF_ERROR(linear_many_row_sm90(kWay, args, 128, stream));
  args.in.rows = kFewRows;
  args.out = few;
  LOCKSTEP_RETURN_IF_ERROR(linear_few_row(kWay, args, stream));
  return launch("compare", compare_rows, {.grid = dim3(8), .block = dim3(256)}, stream, few, many,
                kFewRows * kOutputs, differences);
}

}  // namespace

Status self_test(CUstream_st* stream) {
  constexpr const char* kNames[kForms] = {
      "the few-row product and the many-row product", "mma.sync with tokens and with weights first",
      "wgmma from registers and mma.sync", "wgmma from shared memory and mma.sync"};
  Workspace space;
  LOCKSTEP_RETURN_IF_ERROR(space.open(size_t{16} << 20));
  auto* differences = space.take<uint32_t>(kForms);
  auto* values = space.take<uint16_t>(kKinds * 2 * kProbe * kColumns);
  auto* y = space.take<float>(kKinds * kForms * kProbe * kProbe);
  LOCKSTEP_RETURN_IF_ERROR(
      status_of(cudaMemsetAsync(differences, 0, kForms * sizeof(uint32_t), stream), "self-test"));
  LOCKSTEP_RETURN_IF_ERROR(
      launch("fill", fill_probe, {.grid = dim3(64), .block = dim3(256)}, stream, values));
  LOCKSTEP_RETURN_IF_ERROR(launch(
      "probe", probe_forms, {.grid = dim3(kKinds, kForms), .block = dim3(128)}, stream, values, y));
  LOCKSTEP_RETURN_IF_ERROR(launch("compare", compare_forms,
                                  {.grid = dim3(kKinds, kForms - 1), .block = dim3(256)}, stream, y,
                                  differences));
  LOCKSTEP_RETURN_IF_ERROR(compare_products(space, differences, stream));
  uint32_t found[kForms] = {};
  LOCKSTEP_RETURN_IF_ERROR(
      status_of(cudaMemcpyAsync(found, differences, sizeof(found), cudaMemcpyDeviceToHost, stream),
                "self-test"));
  LOCKSTEP_RETURN_IF_ERROR(status_of(cudaStreamSynchronize(stream), "self-test"));
  for (int i = 0; i < kForms; ++i)
    if (found[i] != 0)
      return Error{ErrorCode::kUnsupported,
                   std::string("this GPU is refused: ") + kNames[i] + " differ in " +
                       std::to_string(found[i]) +
                       " values of the start self-test, so replies would depend on the batch"};
  return {};
}

}  // namespace lockstep::cuda
