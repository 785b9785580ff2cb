#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/pipeline.cuh"
#include "kernels/linear/cuda_affine4.cuh"
#include "kernels/linear/cuda_round.cuh"

namespace lockstep::cuda {
namespace {

__global__ void pack_integers(const uint32_t* q, int tiles, int groups, uint4* out) {
  const int64_t index = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const int lane = index % 32;
  const int64_t group = index / 32 % groups;
  const int64_t tile = index / 32 / groups;
  if (tile >= tiles) return;
  const int row = lane / 4, t = lane % 4;
  uint32_t words[4];
  for (int s = 0; s < 4; ++s) {
    uint32_t word = 0;
    for (int j = 0; j < 4; ++j) {
      const int64_t n = tile * kTileRows + row + (j & 1) * 8;
      const int k = 16 * s + 2 * t + (j >> 1) * 8;
      const uint32_t source = q[(n * groups + group) * 8 + k / 8];
      const uint32_t pair = source >> (4 * (k % 8));
      word |= (pair & 15u) << (4 * j) | ((pair >> 4) & 15u) << (4 * (j + 4));
    }
    words[s] = word;
  }
  out[index] = make_uint4(words[0], words[1], words[2], words[3]);
}

// Scales, or biases in the same layout: one thread a value.
__global__ void pack_quads(const uint16_t* in, int64_t outputs, int groups, float factor_low,
                           float factor_high, uint16_t* out) {
  const int64_t index = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const int64_t n = index / groups;
  const int group = index % groups;
  if (n >= outputs) return;
  const int64_t tile = n / kTileRows;
  const int row = n % kTileRows;
  const int64_t quad = tile * (groups / kQuad) + group / kQuad;
  out[quad * (kQuadBytes / 2) + (row % 8) * 8 + (group % kQuad) * 2 + row / 8] =
      float_to_bf16(bf16_to_float(in[index]) * (row < 8 ? factor_low : factor_high));
}

// Biases beside exact integers: one thread a value.
__global__ void pack_octets(const uint16_t* in, int64_t outputs, int groups, uint16_t* out) {
  const int64_t index = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const int64_t n = index / groups;
  const int group = index % groups;
  if (n >= outputs) return;
  const int64_t tile = n / kTileRows;
  const int row = n % kTileRows;
  const int64_t octet = tile * (groups / kOctet) + group / kOctet;
  const int lane = row % 8 * 4 + group % kOctet / 2;
  out[octet * (kOctetBytes / 2) + lane * 4 + row / 8 * 2 + group % 2] = in[index];
}

// One warp a group of 64 elements.
__global__ void round_rows(const float* in, const RoundedRowShape shape, uint16_t* x,
                           uint16_t* sums) {
  allow_next_kernel();
  const int group = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
  wait_for_previous_kernel();
  if (group >= shape.padded_groups()) return;
  float2 v = make_float2(0, 0);
  if (group < shape.groups)
    v = reinterpret_cast<const float2*>(in + (int64_t{blockIdx.y} * shape.groups + group) *
                                                 kGroup)[threadIdx.x % 32];
  store_rounded_group(v, blockIdx.y, group, shape, x, sums);
}

// Rows of the activations in the order of a list.
__global__ void gather_rows(const Activations in, int row_vectors, int sum_vectors, const int* list,
                            uint4* x, uint4* sums) {
  const int64_t row = list[blockIdx.x];
  const auto* from = reinterpret_cast<const uint4*>(in.x) + row * row_vectors;
  const auto* sums_from = reinterpret_cast<const uint4*>(in.sums) + row * sum_vectors;
  for (int i = threadIdx.x; i < row_vectors; i += blockDim.x)
    x[int64_t{blockIdx.x} * row_vectors + i] = from[i];
  for (int i = threadIdx.x; i < sum_vectors; i += blockDim.x)
    sums[int64_t{blockIdx.x} * sum_vectors + i] = sums_from[i];
}

}  // namespace

Status pack_affine4(Way way, const uint32_t* q, const uint16_t* scales, const uint16_t* biases,
                    int outputs, int inputs, uint8_t* tile_q, uint8_t* tile_scales,
                    uint8_t* tile_biases, Stream stream) {
  const Affine4Tiles shape = {.outputs = outputs, .inputs = inputs};
  const int groups = shape.groups(), tiles = outputs / kTileRows;
  const auto over = [](int64_t threads) {
    return LaunchShape{.grid = dim3(static_cast<unsigned>((threads + 255) / 256)),
                       .block = dim3(256)};
  };
  const auto quads = [&](const uint16_t* from, bool scaled, uint8_t* to) {
    return launch("pack_quads", pack_quads, over(int64_t{outputs} * groups), stream, from,
                  int64_t{outputs}, groups, scaled ? kScaleFactor[0] : 1.0f,
                  scaled ? kScaleFactor[1] : 1.0f, reinterpret_cast<uint16_t*>(to));
  };
  const bool exact = way == Way::kExactIntegers;
  LOCKSTEP_RETURN_IF_ERROR(launch("pack_integers", pack_integers,
                                  over(int64_t{tiles} * groups * 32), stream, q, tiles, groups,
                                  reinterpret_cast<uint4*>(tile_q)));
  LOCKSTEP_RETURN_IF_ERROR(quads(scales, exact, tile_scales));
  if (!exact) return quads(biases, false, tile_biases);
  return launch("pack_octets", pack_octets, over(int64_t{outputs} * groups), stream, biases,
                int64_t{outputs}, groups, reinterpret_cast<uint16_t*>(tile_biases));
}

Status round_activations(Way way, const float* in, int rows, int inputs, uint16_t* x,
                         uint16_t* sums, bool overlap, Stream stream) {
  const RoundedRowShape rounded = rounded_row_shape(way, inputs);
  const LaunchShape shape = {.grid = dim3(static_cast<unsigned>((rounded.padded_groups() + 7) / 8),
                                          static_cast<unsigned>(rows)),
                             .block = dim3(256),
                             .overlap = overlap};
  return launch("round_rows", round_rows, shape, stream, in, rounded, x, sums);
}

Status gather_activations(const Activations& in, int inputs, const int* row_list, int count,
                          uint16_t* x, uint16_t* sums, Stream stream) {
  return launch("gather_rows", gather_rows,
                {.grid = dim3(static_cast<unsigned>(count)), .block = dim3(256)}, stream, in,
                inputs / 8, sum_columns(inputs) / 8, row_list, reinterpret_cast<uint4*>(x),
                reinterpret_cast<uint4*>(sums));
}

}  // namespace lockstep::cuda
