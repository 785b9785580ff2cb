#include "checkpoint/zero_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace lockstep {
namespace {

constexpr int64_t kBlock = 64;

bool all_zero(const std::byte* begin, size_t size) {
  return std::all_of(begin, begin + size, [](std::byte b) { return b == std::byte{0}; });
}

// An affine row of zeros has bias 0 and q 0, whatever its scale; blocks spell zero in several ways.
bool is_zero_row(const MatrixView& matrix, int64_t row) {
  const MatrixView one = matrix.row_slice(row, 1);
  if (one.encoding == Encoding::kBlocks) {
    std::vector<float> values(static_cast<size_t>(one.cols));
    decode_row(one, 0, values.data());
    return std::all_of(values.begin(), values.end(), [](float v) { return v == 0.0f; });
  }
  return all_zero(one.data, one.row_bytes()) &&
         (one.encoding == Encoding::kDense || all_zero(one.biases, one.scale_row_bytes()));
}

}  // namespace

void warn_about_zero_rows(const MatrixView& matrix, const TensorRecord& record,
                          std::vector<std::string>& warnings) {
  if (record.name.find("_proj") == std::string::npos) return;
  for (int64_t row = kBlock - 1; row < matrix.rows; row += kBlock) {
    if (!is_zero_row(matrix, row)) continue;
    int64_t begin = row;
    int64_t end = row + 1;
    while (begin > 0 && is_zero_row(matrix, begin - 1)) --begin;
    while (end < matrix.rows && is_zero_row(matrix, end)) ++end;
    if (end - begin < kBlock) continue;
    warnings.push_back(
        fmt::format("{}: tensor {}: rows {} to {} are all zero; the file may be damaged.",
                    record.file, record.source_name, begin, end - 1));
    return;
  }
}

}  // namespace lockstep
