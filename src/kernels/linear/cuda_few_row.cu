// The few-row product: weights stream from memory once, as the 16-row operand of mma.sync; at most
// 8 * kTokenTiles activation rows lie in shared memory.
//
// A cluster owns a range of row tiles; its blocks share the parts of K. A block's warps take (tile,
// part) items and leave each part's sum in shared memory; then every output adds its parts in
// ascending order. So no order depends on how items meet warps, blocks or clusters.
#include <cooperative_groups.h>

#include <algorithm>

#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/mma.cuh"
#include "kernels/cuda/pipeline.cuh"
#include "kernels/linear/cuda_affine4.cuh"

namespace lockstep::cuda {
namespace {

constexpr int kMostThreads = 512;
constexpr int kRowPad = 16;  // bytes; the eight rows of a matrix load then meet distinct banks

struct FewRowPlan {
  LinearArgs args;
  int clusters_a_run;  // clusters that share one run of rows
  int chunk_tiles;     // row tiles between two block-wide meetings
  int chunks;          // buffers for them: 1 or 2
  int x_stride;        // bytes of an activation row in shared memory
  int sum_stride;      // bytes of its group sums
  int slots_at;        // where the part sums begin
  int prefetch_tiles;  // row tiles brought to L2 before the activations are there
};

// Four groups of one row tile, as one lane holds them.
template <Way kWay>
struct Quad {
  uint4 q[kQuad];
  uint4 scales;
  uint4 biases;        // rounded weights
  uint2 octet_biases;  // exact integers, the second quad of an octet
};

// The (tile, part) items of one warp: within a chunk of row tiles every `warps`-th, tile by tile.
class Items {
 public:
  __device__ Items(int tiles, int chunk_tiles, int parts, int warp, int warps)
      : tiles_(tiles),
        chunk_tiles_(chunk_tiles),
        parts_(parts),
        first_tile_(warp / parts),
        first_part_(warp % parts),
        step_tiles_(warps / parts),
        step_parts_(warps % parts) {
    enter(0);
  }

  __device__ int tile() const { return tile_; }
  __device__ int part() const { return part_; }
  __device__ bool in_chunk() const { return tile_ < min(chunk_ + chunk_tiles_, tiles_); }
  __device__ void enter(int chunk) {
    chunk_ = chunk;
    tile_ = chunk + first_tile_;
    part_ = first_part_;
  }
  __device__ void next() {
    tile_ += step_tiles_;
    part_ += step_parts_;
    if (part_ >= parts_) {
      part_ -= parts_;
      ++tile_;
    }
  }
  // To the next chunk that has an item for this warp; past all tiles when there is none.
  __device__ void skip_empty_chunks() {
    while (chunk_ < tiles_ && !in_chunk()) enter(chunk_ + chunk_tiles_);
  }
  __device__ bool done() const { return chunk_ >= tiles_; }

 private:
  const int tiles_, chunk_tiles_, parts_, first_tile_, first_part_, step_tiles_, step_parts_;
  int chunk_ = 0, tile_ = 0, part_ = 0;
};

// Runs ahead of the arithmetic through a warp's items, two quads (an octet) at a time.
template <Way kWay>
class QuadStream {
 public:
  __device__ QuadStream(const Items& items, const Affine4Tiles& w, int64_t first_tile,
                        int first_quad, int part_quads, int lane)
      : items_(items), part_quads_(part_quads), tile_quads_(w.groups() / kQuad) {
    const int64_t first = first_tile * tile_quads_ + first_quad;
    q_ = w.q + (first * kQuad * 32 + lane) * 16;
    scales_ = w.scales + first * kQuadBytes + lane / 4 * 16;
    biases_ = kWay == Way::kRoundedWeights ? w.biases + first * kQuadBytes + lane / 4 * 16
                                           : w.biases + first / 2 * kOctetBytes + lane * 8;
    items_.skip_empty_chunks();
  }

  // Loads the next quad, if there is one, and steps; kSecond: the second of its octet.
  template <bool kSecond>
  __device__ void load(Quad<kWay>& quad) {
    if (items_.done()) return;
    const uint32_t index = items_.tile() * tile_quads_ + items_.part() * part_quads_ + quad_;
#pragma unroll
    for (int i = 0; i < kQuad; ++i)
      quad.q[i] = load_stream(q_ + index * (kQuad * kTileBytes) + i * kTileBytes);
    quad.scales = load_stream(scales_ + index * kQuadBytes);
    if constexpr (kWay == Way::kRoundedWeights)
      quad.biases = load_stream(biases_ + index * kQuadBytes);
    else if constexpr (kSecond)
      quad.octet_biases = load_stream_8(biases_ + index / 2 * kOctetBytes);
    ++quad_;
    if (kSecond && quad_ == part_quads_) {
      quad_ = 0;
      items_.next();
      items_.skip_empty_chunks();
    }
  }

 private:
  Items items_;
  const int part_quads_, tile_quads_;
  const uint8_t *q_, *scales_, *biases_;
  int quad_ = 0;
};

// Adds four groups to the part's sums. `x`: this lane's row addresses of the matrix loads.
template <Way kWay, int kTokenTiles>
__device__ inline void multiply_quad(const Quad<kWay>& quad, const uint32_t (&x)[kTokenTiles],
                                     int offset, float (&part)[kTokenTiles][4]) {
#pragma unroll
  for (int i = 0; i < kQuad; ++i) {
    const uint32_t scales = word_of(quad.scales, i);
    uint32_t a[4][4];
#pragma unroll
    for (int s = 0; s < 4; ++s) {
      if constexpr (kWay == Way::kExactIntegers) unpack_integers(word_of(quad.q[i], s), a[s]);
      if constexpr (kWay == Way::kRoundedWeights)
        unpack_weights(word_of(quad.q[i], s), scales, word_of(quad.biases, i), a[s]);
    }
#pragma unroll
    for (int n = 0; n < kTokenTiles; ++n) {
      uint32_t b[2][4];
      load_matrix_x4(b[0], x[n] + offset + i * 128);
      load_matrix_x4(b[1], x[n] + offset + i * 128 + 64);
      if constexpr (kWay == Way::kExactIntegers) {
        float p[4] = {};
#pragma unroll
        for (int s = 0; s < 4; ++s)
          mma_bf16_16x8x16(p, a[s], b[s / 2][s % 2 * 2], b[s / 2][s % 2 * 2 + 1]);
#pragma unroll
        for (int c = 0; c < 4; ++c)
          part[n][c] = __fmaf_rn(c < 2 ? bf16_low(scales) : bf16_high(scales), p[c], part[n][c]);
      } else {
#pragma unroll
        for (int s = 0; s < 4; ++s)
          mma_bf16_16x8x16(part[n], a[s], b[s / 2][s % 2 * 2], b[s / 2][s % 2 * 2 + 1]);
      }
    }
  }
}

// The biases' share of an octet.
template <int kTokenTiles>
__device__ inline void add_biases(uint2 biases, const uint32_t (&sums)[kTokenTiles], int offset,
                                  float (&part)[kTokenTiles][4]) {
  const uint32_t a[4] = {biases.x, biases.y, biases.x, biases.y};
#pragma unroll
  for (int n = 0; n < kTokenTiles; ++n) {
    uint32_t b[2];
    load_matrix_x2(b, sums[n] + offset);
    mma_bf16_16x8x16(part[n], a, b[0], b[1]);
  }
}

// Keeps the memory busy while the previous kernel ends: `count` groups from `first_group` of the
// row tiles from `first_tile` on come to L2, one tile a lane.
__device__ inline void prefetch_tiles(const Affine4Tiles& w, int64_t first_tile, int tiles,
                                      int first_group, int count) {
  const int lane = threadIdx.x % 32;
  if (lane >= tiles) return;
  const int64_t group = (first_tile + lane) * w.groups() + first_group;
  prefetch_bulk(w.q + group * kTileBytes, count * kTileBytes);
  prefetch_bulk(w.scales + group * (kQuadBytes / kQuad), count * (kQuadBytes / kQuad));
  prefetch_bulk(w.biases + group * (kQuadBytes / kQuad), count * (kQuadBytes / kQuad));
}

// Starts the copy of `bytes` of each row to shared memory, by all threads.
__device__ inline void copy_rows(const LinearArgs& args, const RowRun& run, const uint8_t* from,
                                 int64_t row_bytes, int bytes, uint32_t to, int stride) {
  for (int r = 0; r < run.count; ++r) {
    const int64_t row = args.row_list != nullptr ? args.row_list[run.first + r] : run.first + r;
    for (int i = threadIdx.x * 16; i < bytes; i += blockDim.x * 16)
      copy_async_16(to + r * stride + i, from + row * row_bytes + i);
  }
}

// Adds the parts of one lane's four outputs, rank by rank, in ascending order.
template <typename Cluster>
__device__ inline float4 add_parts(const Cluster& cluster, float4* slots, int ranks, int rank,
                                   int all_parts, int tile, int step, int within) {
  constexpr int kBatch = 6;  // loads in flight
  float4 y = make_float4(0, 0, 0, 0);
  for (int r = 0; r < ranks; ++r) {
    const int count = all_parts * (r + 1) / ranks - all_parts * r / ranks;
    const float4* from =
        (r == rank ? slots : cluster.map_shared_rank(slots, r)) + tile * count * step + within;
    for (int first = 0; first < count; first += kBatch) {
      float4 v[kBatch];
#pragma unroll
      for (int i = 0; i < kBatch; ++i)
        if (first + i < count) v[i] = from[(first + i) * step];
#pragma unroll
      for (int i = 0; i < kBatch; ++i)
        if (first + i < count) {
          y.x = y.x + v[i].x, y.y = y.y + v[i].y;
          y.z = y.z + v[i].z, y.w = y.w + v[i].w;
        }
    }
  }
  return y;
}

template <Way kWay, int kTokenTiles>
__global__ void __launch_bounds__(kMostThreads, 1) few_row_kernel(const FewRowPlan plan) {
  namespace cg = cooperative_groups;
  const cg::cluster_group cluster = cg::this_cluster();
  const int ranks = static_cast<int>(cluster.num_blocks());
  const int rank = static_cast<int>(cluster.block_rank());
  extern __shared__ __align__(1024) uint8_t shared[];
  const LinearArgs& args = plan.args;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  allow_next_kernel();

  // Which rows and which row tiles are this cluster's.
  const int cluster_index = blockIdx.x / ranks;
  const int share = cluster_index % plan.clusters_a_run;
  RowRun run = {.matrix = 0, .first = 0, .count = args.in.rows};
  if (args.runs != nullptr) {
    wait_for_previous_kernel();
    const int index = cluster_index / plan.clusters_a_run;
    if (index >= *args.run_count) return;  // the whole cluster leaves
    run = args.runs[index];
  }
  const int matrix_tiles = args.weights.outputs / kTileRows;
  const int tile_begin = static_cast<int>(int64_t{matrix_tiles} * share / plan.clusters_a_run);
  const int tiles =
      static_cast<int>(int64_t{matrix_tiles} * (share + 1) / plan.clusters_a_run) - tile_begin;

  // Which parts are this block's.
  const int part_size = part_groups(args.weights.inputs);
  const int all_parts = args.weights.groups() / part_size;
  const int part_begin = all_parts * rank / ranks;
  const int parts = all_parts * (rank + 1) / ranks - part_begin;
  const int part_quads = part_size / kQuad;

  Items items(tiles, plan.chunk_tiles, parts, warp, blockDim.x / 32);
  QuadStream<kWay> stream(items, args.weights, int64_t{run.matrix} * matrix_tiles + tile_begin,
                          part_begin * part_quads, part_quads, lane);
  Quad<kWay> quads[2];
  stream.template load<false>(quads[0]);
  stream.template load<true>(quads[1]);

  if (warp == 1)
    prefetch_tiles(args.weights, int64_t{run.matrix} * matrix_tiles + tile_begin,
                   min(plan.prefetch_tiles, tiles), part_begin * part_size, parts * part_size);

  const uint32_t x = shared_address(shared);
  const uint32_t sums = x + min(8 * kTokenTiles, args.in.rows) * plan.x_stride;
  float4* slots = reinterpret_cast<float4*>(shared + plan.slots_at);
  wait_for_previous_kernel();
  const int first_group = part_begin * part_size, groups = parts * part_size;
  copy_rows(args, run, reinterpret_cast<const uint8_t*>(args.in.x) + first_group * kGroup * 2,
            int64_t{args.weights.inputs} * 2, groups * kGroup * 2, x, plan.x_stride);
  if (kWay == Way::kExactIntegers)
    copy_rows(args, run, reinterpret_cast<const uint8_t*>(args.in.sums) + first_group * 4,
              sum_columns(args.weights.inputs) * 2, groups * 4, sums, plan.sum_stride);
  copy_async_commit();
  copy_async_wait<0>();
  __syncthreads();

  // This lane's addresses in the matrix loads; rows beyond the last repeat it and are dropped.
  uint32_t lane_x[kTokenTiles], lane_sums[kTokenTiles];
#pragma unroll
  for (int n = 0; n < kTokenTiles; ++n) {
    const int row = min(8 * n + lane % 8, run.count - 1);
    lane_x[n] = x + row * plan.x_stride + lane / 8 * 16;
    lane_sums[n] = sums + row * plan.sum_stride + lane / 8 % 2 * 16;
  }

  constexpr int kStep = kTokenTiles * 32;  // float4 of one item
  const int chunk_slots = plan.chunk_tiles * ((all_parts + ranks - 1) / ranks);
  for (int chunk = 0, turn = 0; chunk < tiles; chunk += plan.chunk_tiles, ++turn) {
    float4* here = slots + (plan.chunks == 2 ? turn % 2 : 0) * chunk_slots * kStep;
    for (items.enter(chunk); items.in_chunk(); items.next()) {
      float part[kTokenTiles][4] = {};
      const int part_group = items.part() * part_size;
      for (int octet = 0; octet < part_size; octet += kOctet) {
        const int offset = (part_group + octet) * 128;
        multiply_quad<kWay>(quads[0], lane_x, offset, part);
        stream.template load<false>(quads[0]);
        multiply_quad<kWay>(quads[1], lane_x, offset + kQuad * 128, part);
        if constexpr (kWay == Way::kExactIntegers)
          add_biases(quads[1].octet_biases, lane_sums, (part_group + octet) * 4, part);
        stream.template load<true>(quads[1]);
      }
      float4* slot = here + ((items.tile() - chunk) * parts + items.part()) * kStep + lane;
#pragma unroll
      for (int n = 0; n < kTokenTiles; ++n)
        slot[n * 32] = make_float4(part[n][0], part[n][1], part[n][2], part[n][3]);
    }
    if (ranks > 1) cluster.sync();
    if (ranks == 1) __syncthreads();

    // Outputs of this chunk whose tile is this rank's.
    const int chunk_tiles = min(plan.chunk_tiles, tiles - chunk);
    for (int i = threadIdx.x; i < chunk_tiles * kStep; i += blockDim.x) {
      const int tile = i / kStep, within = i % kStep;
      if ((chunk + tile) % ranks != rank) continue;
      const float4 sum = add_parts(cluster, here, ranks, rank, all_parts, tile, kStep, within);
      const float y[4] = {sum.x, sum.y, sum.z, sum.w};
      const int n = (tile_begin + chunk + tile) * kTileRows + within % 32 / 4;
#pragma unroll
      for (int c = 0; c < 4; ++c) {
        const int token = within / 32 * 8 + within % 4 * 2 + c % 2;
        if (token < run.count)
          args.out[int64_t{run.first + token} * args.weights.outputs + n + c / 2 * 8] = y[c];
      }
    }
  }
  if (ranks > 1) cluster.sync();  // others may still read this block's sums
}

// What a spread should take, in nanoseconds: each processor's share of weights and activations at
// the rates measured on an H200, and what a launch and a meeting of clusters cost there.
double expected_time(const Affine4Tiles& w, const FewRowPlan& plan, int ranks, int parts, int rows,
                     int tiles_each, int warps, int rounds) {
  constexpr double kWeightRate = 34.5, kActivationRate = 50;  // bytes a nanosecond a processor
  const double blocks = 16.0 / warps;
  const double part_bytes = part_groups(w.inputs) * (kTileBytes + 64.0);
  const double meeting = ranks == 1 ? 0 : ranks == 2 ? 1500 : 5000;
  return rounds * (blocks * tiles_each * parts * part_bytes / kWeightRate +
                   blocks * rows * plan.x_stride / kActivationRate + meeting) +
         (warps == 8 ? 2600 : 3000);
}

// A spread of the work over blocks, or nothing when it does not fit.
bool make_plan(Way way, const LinearArgs& args, int token_tiles, int ranks, int clusters,
               int prefetch_bytes, size_t shared_most, int warps, FewRowPlan& plan,
               size_t& shared_bytes, double& time) {
  const Affine4Tiles& w = args.weights;
  const bool stacked = args.runs != nullptr;
  const int part_size = part_groups(w.inputs);
  const int parts = (w.groups() / part_size + ranks - 1) / ranks;
  const int rows = stacked ? 8 : std::min(args.in.rows, 8 * token_tiles);
  const int runs = stacked ? args.max_runs : 1;
  plan.args = args;
  if (stacked) plan.args.in.rows = 8;
  plan.x_stride = parts * part_size * kGroup * 2 + kRowPad;
  plan.sum_stride = way == Way::kExactIntegers ? parts * part_size / kOctet * 32 + kRowPad : 0;
  const size_t fixed = static_cast<size_t>(rows) * (plan.x_stride + plan.sum_stride);
  plan.slots_at = static_cast<int>((fixed + 127) / 128 * 128);
  const size_t tile_bytes = static_cast<size_t>(parts) * token_tiles * 512;
  const int tiles = w.outputs / kTileRows;
  // Runs of uneven number: enough pieces each that the last round of blocks is short.
  const int least = runs > clusters / 8 ? 4 : 1;
  plan.clusters_a_run = std::clamp(clusters / runs, std::min(least, tiles), tiles);
  plan.chunk_tiles = (tiles + plan.clusters_a_run - 1) / plan.clusters_a_run;
  plan.prefetch_tiles = std::min(32, prefetch_bytes / (parts * part_size * kTileBytes));
  plan.chunks = 1;
  const auto bytes = [&] { return plan.slots_at + plan.chunks * plan.chunk_tiles * tile_bytes; };
  if (bytes() > shared_most) {
    plan.chunks = 2;
    if (plan.slots_at + 8 * tile_bytes > shared_most) return false;  // too many meetings
    plan.chunk_tiles = static_cast<int>((shared_most - plan.slots_at) / 2 / tile_bytes);
  }
  shared_bytes = bytes();
  time = expected_time(w, plan, ranks, parts, rows,
                       (tiles + plan.clusters_a_run - 1) / plan.clusters_a_run, warps,
                       (runs * plan.clusters_a_run + clusters - 1) / clusters);
  return true;
}

void (*kernel_of(Way way, int token_tiles))(FewRowPlan) {
  if (way == Way::kRoundedWeights)
    return token_tiles == 1 ? few_row_kernel<Way::kRoundedWeights, 1>
                            : few_row_kernel<Way::kRoundedWeights, 2>;
  return token_tiles == 1 ? few_row_kernel<Way::kExactIntegers, 1>
                          : few_row_kernel<Way::kExactIntegers, 2>;
}

}  // namespace

Status linear_few_row(Way way, const LinearArgs& args, Stream stream, FewRowSpread spread) {
  const bool stacked = args.runs != nullptr;
  const Affine4Tiles& w = args.weights;
  if ((!stacked && args.in.rows > 16) || w.inputs % 512 != 0 || w.outputs % kTileRows != 0)
    return Error{ErrorCode::kUnsupported, "few-row product: at most 16 rows, K a multiple of 512"};
  const int token_tiles = !stacked && args.in.rows > 8 ? 2 : 1;
  const int parts = w.groups() / part_groups(w.inputs);
  const auto kernel = kernel_of(way, token_tiles);

  // Two blocks of 8 warps a processor, so that one kernel's end and the next one's beginning
  // overlap, or one of 16, which holds the activations once; K on one block or spread over a
  // cluster.
  FewRowPlan best_plan;
  LaunchShape best_shape;
  double best_time = 1e30;
  for (const int warps : {8, 16}) {
    if (spread.warps != 0 && spread.warps != warps) continue;
    const size_t shared_most = (warps == 8 ? 112 : 226) * 1024;
    const int prefetch_bytes = spread.prefetch_bytes >= 0 ? spread.prefetch_bytes
                               : warps == 16              ? 50 << 10
                                                          : 0;
    for (int ranks = 1; ranks <= std::min(4, parts); ranks *= 2) {
      if (spread.ranks != 0 && spread.ranks != ranks) continue;
      LaunchShape shape = {.block = dim3(static_cast<unsigned>(warps * 32)),
                           .shared_bytes = shared_most,
                           .cluster = ranks,
                           .overlap = args.overlap};
      const int clusters = resident_clusters(kernel, shape);
      FewRowPlan plan;
      double time = 0;
      if (!make_plan(way, args, token_tiles, ranks, clusters, prefetch_bytes, shared_most, warps,
                     plan, shape.shared_bytes, time) ||
          time >= best_time)
        continue;
      shape.grid =
          dim3(static_cast<unsigned>(plan.clusters_a_run * ranks * (stacked ? args.max_runs : 1)));
      best_plan = plan, best_shape = shape, best_time = time;
    }
  }
  if (best_time == 1e30)
    return Error{ErrorCode::kUnsupported, "few-row product: the rows do not fit in shared memory"};
  return launch("linear few-row", kernel, best_shape, stream, best_plan);
}

}  // namespace lockstep::cuda
