#include "checkpoint/synth/fill_modules.h"

#include <utility>
#include <vector>

namespace lockstep {
namespace {

struct Scratch {
  std::vector<float> values;
  std::vector<std::byte> weight, scales, biases;
};

struct RowBytes {
  size_t weight = 0;
  size_t scales = 0;  // also of biases
};

RowBytes row_bytes(const StoredModule& module) {
  const auto cols = static_cast<size_t>(module.cols);
  if (!module.affine) return {cols * size_of(module.dtype), 0};
  const AffineFormat& format = *module.affine;
  return {cols * static_cast<size_t>(format.bits) / 8,
          cols / static_cast<size_t>(format.group) * size_of(format.scales)};
}

// The part and the row inside it that row `row` of a tensor comes from.
std::pair<const StoredModule::Part*, int64_t> source_of(const StoredModule& module, int64_t row) {
  const int64_t block = row / module.part_rows;
  const auto parts = static_cast<int64_t>(module.parts.size());
  return {&module.parts[static_cast<size_t>(block % parts)],
          block / parts * module.part_rows + row % module.part_rows};
}

void make_row(const StoredModule& module, int64_t row, std::span<float> values, std::byte* weight,
              std::byte* scales, std::byte* biases) {
  const auto [part, source] = source_of(module, row);
  if (module.affine && module.affine->bits == 4) {
    fill_affine4_row(part->fill.spread, part->key, source, module.cols, *module.affine, weight,
                     scales, biases);
    return;
  }
  fill_values(part->fill, part->key, source * module.cols, module.rows * module.cols, values);
  if (module.affine) {
    quantise_affine_row(values, *module.affine, weight, scales, biases);
    return;
  }
  const size_t width = size_of(module.dtype);
  for (size_t k = 0; k < values.size(); ++k) {
    store_float(values[k] + module.offset, module.dtype, weight + k * width);
  }
}

Status write_rows(const StoredModule& module, int64_t begin, int64_t count,
                  SafetensorsWriter& writer, Scratch& scratch) {
  const RowBytes bytes = row_bytes(module);
  const auto rows = static_cast<size_t>(count);
  scratch.values.resize(static_cast<size_t>(module.cols));
  scratch.weight.resize(rows * bytes.weight);
  scratch.scales.resize(rows * bytes.scales);
  scratch.biases.resize(rows * bytes.scales);
  for (size_t i = 0; i < rows; ++i) {
    make_row(module, begin + static_cast<int64_t>(i), scratch.values,
             scratch.weight.data() + i * bytes.weight, scratch.scales.data() + i * bytes.scales,
             scratch.biases.data() + i * bytes.scales);
  }
  const auto first = static_cast<uint64_t>(begin);
  LOCKSTEP_RETURN_IF_ERROR(writer.write(module.tensor, first * bytes.weight, scratch.weight));
  if (!module.affine) return {};
  LOCKSTEP_RETURN_IF_ERROR(writer.write(module.tensor + 1, first * bytes.scales, scratch.scales));
  return writer.write(module.tensor + 2, first * bytes.scales, scratch.biases);
}

}  // namespace

Status fill_modules(const SynthPlan& plan, SafetensorsWriter& trunk, SafetensorsWriter* sidecar,
                    ThreadPool& pool, const Progress& progress) {
  TileLoop loop(pool, plan.tensor_bytes, progress);
  std::vector<Scratch> scratch(static_cast<size_t>(pool.threads()));
  for (const StoredModule& module : plan.modules) {
    SafetensorsWriter& writer = module.sidecar ? *sidecar : trunk;
    const RowBytes bytes = row_bytes(module);
    LOCKSTEP_RETURN_IF_ERROR(loop.run(module.rows, bytes.weight + 2 * bytes.scales,
                                      [&](int64_t first, int64_t count, int thread) {
                                        return write_rows(module, first, count, writer,
                                                          scratch[static_cast<size_t>(thread)]);
                                      }));
  }
  return {};
}

}  // namespace lockstep
