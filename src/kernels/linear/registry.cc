#include <algorithm>
#include <utility>

#include "kernels/launch.h"
#include "kernels/linear/cpu.h"
#include "kernels/linear/weight_class.h"

namespace lockstep {
namespace {

using TileFunction = void(const LinearTile&);
constexpr KernelRow<TileFunction> kFloatRows[] = {LOCKSTEP_KERNEL_ROWS(linear_float_tile)};
constexpr KernelRow<TileFunction> kInt8Rows[] = {LOCKSTEP_KERNEL_ROWS(linear_int8_tile)};
using QuantizeFunction = void(const float*, int64_t, ActivationBlock*);
constexpr KernelRow<QuantizeFunction> kQuantizeRows[] = {LOCKSTEP_KERNEL_ROWS(quantize_row)};

// A task reads about this many bytes of weights, in one piece: what a thread asks for ahead of its
// use is lost where the next task is another's. It reads less where that leaves a thread few tasks,
// but does at least this many products, enough to be worth waking a thread.
constexpr int64_t kBytesPerTask = 131072;
constexpr int64_t kTasksPerThread = 6;
constexpr int64_t kProductsPerTask = 65536;
constexpr int64_t kRowsPerTask = 64;
constexpr int64_t kValuesPerTask = 8192;

constexpr int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

template <typename Args>
TileFunction* pick_tile(const CpuContext& context, const MatrixView& weight, const Args& args) {
  const bool int8 = takes_int8(weight) && args.x_quantized != nullptr;
  const std::span<const KernelRow<TileFunction>> rows = int8 ? kInt8Rows : kFloatRows;
  return pick_kernel(context, rows, args).function;
}

ShapeClass product_class(std::string op, const MatrixView& weight,
                         const ActivationBlock* quantized) {
  const bool int8 = takes_int8(weight) && quantized != nullptr;
  ShapeClass shape = weight_class(std::move(op), weight);
  shape.dims.insert(shape.dims.begin(), {".int8", int8 ? 1 : 0});
  shape.label += int8 ? ", int8" : ", full";
  return shape;
}

// Outputs per task, where `all` outputs of all matrices and row tiles are to be shared; a multiple
// of 16. Rows and outputs are never summed over, so it decides no bit.
int64_t outputs_per_task(const CpuContext& context, const MatrixView& weight, int64_t rows,
                         int64_t all) {
  const auto row_bytes =
      static_cast<int64_t>(weight.row_bytes() + 2 * weight.scale_row_bytes()) + 1;
  const int64_t products = std::max<int64_t>(1, weight.cols * std::min(rows, kRowsPerTask));
  const int64_t share = all / (kTasksPerThread * context.pool.threads());
  const int64_t wanted = std::max(divide_up(kProductsPerTask, products),
                                  std::min(divide_up(kBytesPerTask, row_bytes), share));
  return divide_up(wanted, 16) * 16;
}

void check_weight(const MatrixView& weight) {
  LOCKSTEP_CHECK(weight.encoding != Encoding::kAffine ||
                     (weight.group > 0 && weight.group % kActivationGroup == 0 &&
                      weight.cols % weight.group == 0),
                 "an affine group is a multiple of 32 that divides K");
  LOCKSTEP_CHECK(
      weight.encoding != Encoding::kBlocks || weight.cols % block_shape(weight.block).elements == 0,
      "whole blocks make up a row");
}

}  // namespace

ShapeClass shape_class(const LinearArgs& args) {
  return product_class("linear", args.weight, args.x_quantized);
}

ShapeClass shape_class(const LinearGroupedArgs& args) {
  ShapeClass shape = product_class("linear_grouped", args.weight.first, args.x_quantized);
  shape.dims.emplace_back("experts", args.weight.count);
  return shape;
}

ShapeClass shape_class(const QuantizeRowsArgs& args) {
  return {.op = "quantize_rows", .dims = {{"k", args.k}}};
}

std::vector<KernelInfo> linear_kernels() { return kernel_infos(kFloatRows, kInt8Rows); }
std::vector<KernelInfo> quantize_rows_kernels() { return kernel_infos(kQuantizeRows); }

void run_linear(const CpuContext& context, const LinearArgs& args) {
  check_weight(args.weight);
  TileFunction* const run_tile = pick_tile(context, args.weight, args);
  const int64_t row_tiles = divide_up(args.rows, kRowsPerTask);
  const int64_t outputs =
      outputs_per_task(context, args.weight, args.rows, args.weight.rows * row_tiles);
  const int64_t output_tiles = divide_up(args.weight.rows, outputs);
  const int64_t blocks = activation_blocks(args.weight.cols);
  context.pool.run(output_tiles * row_tiles, [&](int64_t task, int) {
    // Tasks that share weights follow each other.
    const int64_t output = task / row_tiles * outputs;
    const int64_t row = task % row_tiles * kRowsPerTask;
    LinearTile tile{
        .weight = args.weight.row_slice(output, std::min(outputs, args.weight.rows - output)),
        .rows = std::min(kRowsPerTask, args.rows - row),
        .y = args.y + row * args.y_stride + output,
        .y_stride = args.y_stride};
    if (args.x_quantized != nullptr) tile.x_quantized = args.x_quantized + row * blocks;
    if (args.x != nullptr) tile.x = args.x + row * args.weight.cols;
    run_tile(tile);
  });
}

void run_linear_grouped(const CpuContext& context, const LinearGroupedArgs& args) {
  const MatrixView& shape = args.weight.first;
  check_weight(shape);
  TileFunction* const run_tile = pick_tile(context, shape, args);
  int64_t active = 0;
  for (int64_t e = 0; e < args.weight.count; ++e) {
    active += args.slot_begin[e + 1] > args.slot_begin[e];
  }
  if (active == 0) return;
  const int64_t slots = args.slot_begin[args.weight.count] - args.slot_begin[0];
  const int64_t outputs =
      outputs_per_task(context, shape, divide_up(slots, active), shape.rows * active);
  const int64_t output_tiles = divide_up(shape.rows, outputs);
  // The matrix of a task is found by counting those with slots: far quicker than the task.
  const auto nth_active = [&](int64_t n) {
    int64_t e = 0;
    for (; n > 0 || args.slot_begin[e + 1] == args.slot_begin[e]; ++e) {
      n -= args.slot_begin[e + 1] > args.slot_begin[e];
    }
    return e;
  };
  context.pool.run(active * output_tiles, [&](int64_t task, int) {
    const int64_t e = nth_active(task / output_tiles);
    const int64_t output = task % output_tiles * outputs;
    const int64_t slot = args.slot_begin[e];
    LinearTile tile{
        .weight = args.weight.at(e).row_slice(output, std::min(outputs, shape.rows - output)),
        .x = args.x,
        .x_quantized = args.x_quantized,
        .x_row = args.x_row + slot,
        .y_row = args.y_row + slot,
        .rows = args.slot_begin[e + 1] - slot,
        .y = args.y + output,
        .y_stride = shape.rows};
    run_tile(tile);
  });
}

void run_quantize_rows(const CpuContext& context, const QuantizeRowsArgs& args) {
  const auto& kernel = pick_kernel(context, kQuantizeRows, args);
  const int64_t blocks = activation_blocks(args.k);
  const int64_t rows_per_task = std::max<int64_t>(1, kValuesPerTask / std::max<int64_t>(1, args.k));
  context.pool.run(divide_up(args.rows, rows_per_task), [&](int64_t task, int) {
    const int64_t end = std::min(args.rows, (task + 1) * rows_per_task);
    for (int64_t row = task * rows_per_task; row < end; ++row) {
      kernel.function(args.x + row * args.k, args.k, args.out + row * blocks);
    }
  });
}

}  // namespace lockstep
