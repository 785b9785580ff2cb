// The many-row product for Hopper: weights are the 64-row register operand of wgmma, unpacked by
// the warps that multiply them; activations come to shared memory by the copy engine.
//
// A block is two warpgroups of 64 outputs each and a producer that runs ahead through a ring of k64
// stages. Two blocks with neighbouring outputs form a cluster and fetch half of each activation
// tile for both. Per output the order is that of cuda_few_row.cu; while one warpgroup scales a
// group's sums the other keeps the tensor cores busy.
#include <algorithm>

#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/mma.cuh"
#include "kernels/cuda/pipeline.cuh"
#include "kernels/cuda/tensor_map.cuh"
#include "kernels/cuda/wgmma.cuh"
#include "kernels/linear/cuda_affine4.cuh"
#include "kernels/linear/cuda_split_parts.h"

namespace lockstep::cuda {
namespace {

constexpr int kBlockTiles = 8;  // row tiles a block: 128 outputs
constexpr int kRanks = 2;       // blocks a cluster: 256 outputs
constexpr int kConsumers = 256;
constexpr int kThreads = kConsumers + 128;
constexpr int kTokenSuper = 16;  // token chunks that walk through all weights together

struct ManyRowPlan {
  LinearArgs args;
  float* part_sums = nullptr;  // [parts, rows, outputs], when the parts of K are spread
  int splits = 1;              // clusters that share one tile's parts
};

struct ManyRowMaps {
  CUtensorMap x, sums, q, scales, biases;
};

// A stage of the ring: bytes of each piece, in the order they lie there. Scales come with the first
// group of a quad, group sums with the last of an octet.
template <Way kWay, int kTokens>
struct Stage {
  static constexpr bool kExact = kWay == Way::kExactIntegers;
  static constexpr int kX = kTokens * 128;
  static constexpr int kSums = kExact ? kTokens * 32 : 0;
  static constexpr int kQ = kBlockTiles * kTileBytes;
  static constexpr int kScales = kBlockTiles * kQuadBytes;
  static constexpr int kQAt = kX + kSums;
  static constexpr int kScalesAt = kQAt + kQ;
  static constexpr int kQuadScales = kExact ? kScales : 2 * kScales;  // with biases
  static constexpr int kBytes = kScalesAt + kQuadScales;
  static constexpr int kCount = kTokens == 128 ? 8 : 12;
};

// One tile of work: a row block of a matrix, a run of at most kTokens rows, whole parts of K.
struct Work {
  int row_block, matrix, first_row, rows;
  int octet_begin, octet_end;
};

// All work in the order in which clusters take it.
template <int kTokens>
class Schedule {
 public:
  __device__ explicit Schedule(const ManyRowPlan& plan)
      : args_(plan.args),
        splits_(plan.splits),
        octets_(plan.args.weights.groups() / kOctet),
        pairs_(args_.weights.outputs / (128 * kRanks)),
        chunks_(args_.runs != nullptr ? *args_.run_count : (args_.in.rows + kTokens - 1) / kTokens),
        rank_(static_cast<int>(cluster_rank())) {}

  __device__ int total() const { return pairs_ * chunks_ * splits_; }
  __device__ int first() const { return blockIdx.x / kRanks; }
  __device__ int step() const { return gridDim.x / kRanks; }
  __device__ Work at(int index) const {
    if (args_.runs != nullptr) {
      const RowRun run = args_.runs[index / pairs_];
      return {index % pairs_ * kRanks + rank_, run.matrix, run.first, run.count, 0, octets_};
    }
    if (splits_ > 1) {  // one chunk of rows
      const int split = index / pairs_, part_octets = part_groups(args_.weights.inputs) / kOctet;
      const int parts = octets_ / part_octets;
      return {index % pairs_ * kRanks + rank_,
              0,
              0,
              args_.in.rows,
              parts * split / splits_ * part_octets,
              parts * (split + 1) / splits_ * part_octets};
    }
    const int super = index / (pairs_ * kTokenSuper);
    const int width = min(kTokenSuper, chunks_ - super * kTokenSuper);
    const int within = index - super * pairs_ * kTokenSuper;
    const int first = (super * kTokenSuper + within % width) * kTokens;
    return {within / width * kRanks + rank_,     0, first,
            min(kTokens, args_.in.rows - first), 0, octets_};
  }

 private:
  const LinearArgs& args_;
  const int splits_, octets_, pairs_, chunks_, rank_;
};

// Position in the ring.
template <int kCount>
struct Ring {
  int index = 0;
  uint32_t phase = 0;
  __device__ void advance() {
    if (++index == kCount) {
      index = 0;
      phase ^= 1;
    }
  }
};

template <Way kWay, int kTokens>
__device__ void produce(const ManyRowPlan& plan, const ManyRowMaps& maps, uint32_t base,
                        uint32_t full, uint32_t empty) {
  using S = Stage<kWay, kTokens>;
  constexpr uint16_t kBoth = (1 << kRanks) - 1;
  const Schedule<kTokens> schedule(plan);
  const Affine4Tiles& w = plan.args.weights;
  const int rank = static_cast<int>(cluster_rank());
  Ring<S::kCount> ring;
  for (int index = schedule.first(); index < schedule.total(); index += schedule.step()) {
    const Work work = schedule.at(index);
    const int tile = (work.matrix * (w.outputs / 128) + work.row_block) * kBlockTiles;
    const int row = work.first_row + rank * (kTokens / kRanks);
    for (int group = work.octet_begin * kOctet; group < work.octet_end * kOctet; ++group) {
      const bool scaled = group % kQuad == 0, summed = S::kExact && group % kOctet == kOctet - 1;
      const uint32_t slot = base + ring.index * S::kBytes, bar = full + ring.index * 8;
      barrier_wait(empty + ring.index * 8, ring.phase ^ 1);
      barrier_expect_bytes(bar,
                           S::kX + S::kQ + (scaled ? S::kQuadScales : 0) + (summed ? S::kSums : 0));
      copy_tile_to_all(slot + rank * (S::kX / kRanks), &maps.x, group * kGroup, row, bar, kBoth);
      if (summed)
        copy_tile_to_all(slot + S::kX + rank * (S::kSums / kRanks), &maps.sums, group / kOctet * 16,
                         row, bar, kBoth);
      copy_tile(slot + S::kQAt, &maps.q, group * 128, tile, bar);
      if (scaled) {
        copy_tile(slot + S::kScalesAt, &maps.scales, group / kQuad * 32, tile, bar);
        if (!S::kExact)
          copy_tile(slot + S::kScalesAt + S::kScales, &maps.biases, group / kQuad * 32, tile, bar);
      }
      ring.advance();
    }
  }
}

__device__ inline uint4 load_shared(uint32_t address) {
  uint4 v;
  asm volatile("ld.shared.v4.u32 {%0,%1,%2,%3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "r"(address));
  return v;
}

__device__ inline void multiply(float (&d)[32], const uint32_t (&a)[4], uint64_t b,
                                int accumulate) {
  wgmma_m64n64k16_rs(d, a, b, accumulate);
}
__device__ inline void multiply(float (&d)[64], const uint32_t (&a)[4], uint64_t b,
                                int accumulate) {
  wgmma_m64n128k16_rs(d, a, b, accumulate);
}

// Writes this lane's outputs: rows n, n+8 of the matrix, two tokens a column pair.
template <int kValues>
__device__ inline void store_outputs(float* out, int64_t stride, int rows, int lane,
                                     const float (&y)[kValues]) {
#pragma unroll
  for (int i = 0; i < kValues; ++i) {
    const int token = i / 4 * 8 + lane % 4 * 2 + i % 2;
    if (token < rows) out[token * stride + i / 2 % 2 * 8] = y[i];
  }
}

template <Way kWay, int kTokens>
__device__ void consume(const ManyRowPlan& plan, uint32_t base, uint32_t full, uint32_t empty) {
  using S = Stage<kWay, kTokens>;
  constexpr int kValues = kTokens / 2;
  const Schedule<kTokens> schedule(plan);
  const Affine4Tiles& w = plan.args.weights;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int part_octets = part_groups(w.inputs) / kOctet, octets = w.groups() / kOctet;
  const uint32_t release_at = remote_address(empty, lane % kRanks);
  Ring<S::kCount> ring;
  const auto slot = [&] { return base + ring.index * S::kBytes; };
  const auto wait_full = [&] { barrier_wait(full + ring.index * 8, ring.phase); };

  for (int index = schedule.first(); index < schedule.total(); index += schedule.step()) {
    const Work work = schedule.at(index);
    const int64_t tile =
        (int64_t{work.matrix} * (w.outputs / 128) + work.row_block) * kBlockTiles + warp;
    const uint8_t* biases_at = w.biases + tile * octets * kOctetBytes + lane * 8;
    float y[kValues] = {}, part[kValues] = {}, p[kValues];
    const int n = work.row_block * 128 + warp * kTileRows + lane / 4;
    for (int octet = work.octet_begin; octet < work.octet_end; ++octet) {
      uint2 octet_biases = {};
      if (S::kExact) octet_biases = load_stream_8(biases_at + octet * kOctetBytes);
      const bool first_of_part = octet % part_octets == 0;
#pragma unroll 1
      for (int quad = 0; quad < 2; ++quad) {
        uint4 scales, biases;
#pragma unroll
        for (int i = 0; i < kQuad; ++i) {
          wait_full();
          const uint4 q = load_shared(slot() + S::kQAt + warp * kTileBytes + lane * 16);
          if (i == 0) {
            const uint32_t at = slot() + S::kScalesAt + warp * kQuadBytes + lane / 4 * 16;
            scales = load_shared(at);
            if (!S::kExact) biases = load_shared(at + S::kScales);
          }
          const uint32_t scale = word_of(scales, i);
          uint32_t a[4][4];
#pragma unroll
          for (int s = 0; s < 4; ++s) {
            if constexpr (S::kExact) unpack_integers(word_of(q, s), a[s]);
            if constexpr (!S::kExact)
              unpack_weights(word_of(q, s), scale, word_of(biases, i), a[s]);
          }
          const uint64_t b = swizzled_operand(slot(), 0, 1024);
          wgmma_arrive();
#pragma unroll
          for (int s = 0; s < 4; ++s)
            multiply(p, a[s], b + s * 2, S::kExact ? s > 0 : !first_of_part || quad + i + s > 0);
          wgmma_commit();
          wgmma_wait<0>();
          const uint32_t slot_here = slot();
          const uint32_t release = release_at + ring.index * 8;
          ring.advance();
          const bool summed = i == kQuad - 1 && quad == 1;
          if (!(S::kExact && summed) && lane < kRanks) barrier_arrive_remote(release);
          if constexpr (S::kExact) {
            const float low = bf16_low(scale), high = bf16_high(scale);
#pragma unroll
            for (int v = 0; v < kValues; ++v)
              part[v] = __fmaf_rn(v / 2 % 2 == 0 ? low : high, p[v], part[v]);
            if (summed) {
              const uint32_t c[4] = {octet_biases.x, octet_biases.y, octet_biases.x,
                                     octet_biases.y};
              wgmma_arrive();
              multiply(part, c, swizzled_operand_32(slot_here + S::kX), 1);
              wgmma_commit();
              wgmma_wait<0>();
              if (lane < kRanks) barrier_arrive_remote(release);
            }
          }
        }
      }
      if ((octet + 1) % part_octets != 0) continue;
      if (plan.splits > 1)
        store_outputs(plan.part_sums + int64_t{octet / part_octets} * work.rows * w.outputs + n,
                      w.outputs, work.rows, lane, S::kExact ? part : p);
#pragma unroll
      for (int v = 0; v < kValues; ++v) {
        y[v] = y[v] + (S::kExact ? part[v] : p[v]);
        part[v] = 0;
      }
    }
    if (plan.splits == 1)
      store_outputs(plan.args.out + int64_t{work.first_row} * w.outputs + n, w.outputs, work.rows,
                    lane, y);
  }
}

template <Way kWay, int kTokens>
__global__ void __launch_bounds__(kThreads, 1)
    many_row_kernel(const ManyRowPlan plan, const __grid_constant__ ManyRowMaps maps) {
  using S = Stage<kWay, kTokens>;
  extern __shared__ uint8_t shared[];
  const uint32_t base = (shared_address(shared) + 1023) / 1024 * 1024;
  const uint32_t full = base + S::kCount * S::kBytes, empty = full + S::kCount * 8;
  if (threadIdx.x == 0) {
    for (int i = 0; i < S::kCount; ++i) {
      barrier_init(full + i * 8, 1);
      barrier_init(empty + i * 8, kRanks * kConsumers / 32);
    }
    barrier_init_fence();
  }
  meet_cluster();
  allow_next_kernel();
  wait_for_previous_kernel();
  if (threadIdx.x >= kConsumers) {
    shrink_registers<24>();
    if (threadIdx.x == kConsumers) produce<kWay, kTokens>(plan, maps, base, full, empty);
    __syncwarp();
  } else {
    grow_registers<240>();
    consume<kWay, kTokens>(plan, base, full, empty);
  }
  meet_cluster();  // the other block may still write or arrive here
}

Result<ManyRowMaps> make_maps(Way way, const LinearArgs& args, int tokens) {
  const Affine4Tiles& w = args.weights;
  const uint64_t tiles = static_cast<uint64_t>(w.outputs) / kTileRows * args.matrices;
  const auto groups = static_cast<uint64_t>(w.groups());
  const TileShape activations = {.columns = static_cast<uint64_t>(w.inputs),
                                 .rows = static_cast<uint64_t>(args.in.rows),
                                 .box_columns = 64,
                                 .box_rows = static_cast<uint32_t>(tokens / kRanks),
                                 .swizzle = 128};
  const TileShape quads = {.columns = groups / kQuad * 32,
                           .rows = tiles,
                           .box_columns = 32,
                           .box_rows = kBlockTiles,
                           .bf16 = false};
  TileShape sums = activations, integers = quads;
  sums.columns = static_cast<uint64_t>(sum_columns(w.inputs));
  sums.box_columns = 16;
  sums.swizzle = 32;
  integers.columns = groups * 128;
  integers.box_columns = 128;
  ManyRowMaps maps;
  LOCKSTEP_ASSIGN_OR_RETURN(maps.x, tile_map(args.in.x, activations));
  LOCKSTEP_ASSIGN_OR_RETURN(maps.q, tile_map(w.q, integers));
  LOCKSTEP_ASSIGN_OR_RETURN(maps.scales, tile_map(w.scales, quads));
  if (way == Way::kExactIntegers) {
    LOCKSTEP_ASSIGN_OR_RETURN(maps.sums, tile_map(args.in.sums, sums));
  } else {
    LOCKSTEP_ASSIGN_OR_RETURN(maps.biases, tile_map(w.biases, quads));
  }
  return maps;
}

// Adds the parts in ascending order.
__global__ void add_parts(const float4* part_sums, int parts, int64_t values, float4* out) {
  allow_next_kernel();
  wait_for_previous_kernel();
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= values) return;
  float4 y = make_float4(0, 0, 0, 0);
#pragma unroll 4
  for (int k = 0; k < parts; ++k) {
    const float4 v = part_sums[k * values + i];
    y.x = y.x + v.x, y.y = y.y + v.y, y.z = y.z + v.z, y.w = y.w + v.w;
  }
  out[i] = y;
}

template <Way kWay, int kTokens>
Status start(const LinearArgs& args, float* part_sums, Stream stream) {
  using S = Stage<kWay, kTokens>;
  const int chunks = args.runs != nullptr ? args.max_runs : (args.in.rows + kTokens - 1) / kTokens;
  const int tiles = args.weights.outputs / (128 * kRanks) * chunks;
  LOCKSTEP_ASSIGN_OR_RETURN(const ManyRowMaps maps, make_maps(kWay, args, kTokens));
  LaunchShape shape = {.block = dim3(kThreads),
                       .shared_bytes = 1024 + S::kCount * (S::kBytes + 16),
                       .cluster = kRanks,
                       .overlap = args.overlap};
  const int resident = resident_clusters(many_row_kernel<kWay, kTokens>, shape);
  const int parts = args.weights.groups() / part_groups(args.weights.inputs);
  ManyRowPlan plan = {.args = args, .part_sums = part_sums, .splits = 1};
  if (part_sums != nullptr) plan.splits = std::clamp(resident / tiles, 1, parts);
  shape.grid = dim3(static_cast<unsigned>(std::min(tiles * plan.splits, resident) * kRanks));
  const Status started =
      launch("linear many-row", many_row_kernel<kWay, kTokens>, shape, stream, plan, maps);
  if (!started) return started;
  if (plan.splits == 1) return {};
  const int64_t values = int64_t{args.in.rows} * args.weights.outputs / 4;
  return launch("add parts", add_parts,
                {.grid = dim3(static_cast<unsigned>((values + 255) / 256)),
                 .block = dim3(256),
                 .overlap = true},
                stream, reinterpret_cast<const float4*>(part_sums), parts, values,
                reinterpret_cast<float4*>(args.out));
}

Status check_shape(const LinearArgs& args) {
  if (args.weights.outputs % 256 == 0 && args.weights.inputs % 512 == 0) return {};
  return Error{ErrorCode::kUnsupported,
               "many-row product: outputs must be a multiple of 256, inputs of 512"};
}

}  // namespace

Status linear_many_row_sm90(Way way, const LinearArgs& args, int tokens, Stream stream) {
  LOCKSTEP_RETURN_IF_ERROR(check_shape(args));
  if (way == Way::kExactIntegers)
    return tokens == 64 ? start<Way::kExactIntegers, 64>(args, nullptr, stream)
                        : start<Way::kExactIntegers, 128>(args, nullptr, stream);
  return tokens == 64 ? start<Way::kRoundedWeights, 64>(args, nullptr, stream)
                      : start<Way::kRoundedWeights, 128>(args, nullptr, stream);
}

Status linear_split_parts_sm90(Way way, const LinearArgs& args, float* scratch, Stream stream) {
  LOCKSTEP_RETURN_IF_ERROR(check_shape(args));
  if (args.in.rows > 64 || args.runs != nullptr)
    return Error{ErrorCode::kUnsupported, "split product: at most 64 rows of one matrix"};
  return way == Way::kExactIntegers ? start<Way::kExactIntegers, 64>(args, scratch, stream)
                                    : start<Way::kRoundedWeights, 64>(args, scratch, stream);
}

}  // namespace lockstep::cuda
