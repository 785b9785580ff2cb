#include "checkpoint/vector_values.h"

#include <fmt/format.h>

#include <cmath>

#include "base/float16.h"

namespace lockstep {
namespace {

float element(const std::byte* address, DType dtype) {
  switch (dtype) {
    case DType::kF16:
      return f16_to_float(load_unaligned<uint16_t>(address));
    case DType::kBF16:
      return bf16_to_float(load_unaligned<uint16_t>(address));
    default:
      return load_unaligned<float>(address);
  }
}

}  // namespace

bool is_float_dtype(DType dtype) {
  return dtype == DType::kF32 || dtype == DType::kF16 || dtype == DType::kBF16;
}

Result<std::vector<float>> widen_to_float(const TensorRecord& record) {
  if (!is_float_dtype(record.dtype)) {
    return Error{ErrorCode::kUnsupported,
                 fmt::format("{}: tensor {}: found dtype {}, expected F32, F16 or BF16",
                             record.file, record.source_name, stored_type(record))};
  }
  const size_t width = size_of(record.dtype);
  std::vector<float> values(record.bytes / width);
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = element(record.data + i * width, record.dtype);
    if (!std::isfinite(values[i])) {
      return Error{ErrorCode::kNumeric, fmt::format("{}: tensor {}: element {} is not finite",
                                                    record.file, record.source_name, i)};
    }
  }
  return values;
}

}  // namespace lockstep
