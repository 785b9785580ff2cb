#include "checkpoint/convert/conversion.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <span>

#include "formats/row_encoder.h"

namespace lockstep {
namespace {

struct Scratch {
  std::vector<float> values, encoded, written;
  EncodedRows rows;
};

bool same_encoding(const MatrixView& a, const MatrixView& b) {
  if (a.encoding != b.encoding) return false;
  switch (a.encoding) {
    case Encoding::kDense:
      return a.dtype == b.dtype;
    case Encoding::kAffine:
      return a.dtype == b.dtype && a.bits == b.bits && a.group == b.group;
    case Encoding::kBlocks:
      return a.block == b.block;
  }
  return false;
}

struct PartRow {
  size_t part = 0;
  int64_t row = 0;
};

PartRow part_row(const PlannedTensor& tensor, int64_t row) {
  const int64_t block = row / tensor.part_rows;
  const auto parts = static_cast<int64_t>(tensor.parts.size());
  return {static_cast<size_t>(block % parts),
          block / parts * tensor.part_rows + row % tensor.part_rows};
}

// `out` is the place of one row.
struct RowPlace {
  std::byte* data;
  std::byte* scales;
  std::byte* biases;
};

Status encode(const PlannedTensor& tensor, int64_t row, std::vector<float>& values,
              const RowPlace& out) {
  const PartRow at = part_row(tensor, row);
  const SourceTensor& source = tensor.parts[at.part].source;
  const auto stored = source.stored_row(at.row);
  if (stored && same_encoding(*stored, tensor.format)) {
    std::memcpy(out.data, stored->data, tensor.format.row_bytes());
    if (const size_t bytes = tensor.format.scale_row_bytes(); bytes > 0) {
      std::memcpy(out.scales, stored->scales, bytes);
      std::memcpy(out.biases, stored->biases, bytes);
    }
    return {};
  }
  values.resize(static_cast<size_t>(source.cols()));
  source.decode(at.row, values.data());
  if (encode_row(tensor.format, values, out.data, out.scales, out.biases)) return {};
  return Error{
      ErrorCode::kNumeric,
      fmt::format("tensor {}, row {}: a value is not finite, or too large for {}",
                  tensor.parts[at.part].tensor.name, at.row, encoding_name(tensor.format))};
}

void resize(const PlannedTensor& tensor, int64_t count, EncodedRows& rows) {
  const auto n = static_cast<size_t>(count);
  rows.data.resize(n * tensor.format.row_bytes());
  rows.scales.resize(n * tensor.format.scale_row_bytes());
  rows.biases.resize(n * tensor.format.scale_row_bytes());
}

RowPlace place(const PlannedTensor& tensor, int64_t index, EncodedRows& rows) {
  const auto i = static_cast<size_t>(index);
  const size_t scale_bytes = tensor.format.scale_row_bytes();
  return {rows.data.data() + i * tensor.format.row_bytes(), rows.scales.data() + i * scale_bytes,
          rows.biases.data() + i * scale_bytes};
}

// Sums over a tensor, of which every thread has its own.
struct Squares {
  double change = 0.0;
  double values = 0.0;
};

// One tensor of the plan beside what was written of it.
class TensorCheck {
 public:
  static Result<TensorCheck> make(const PlannedTensor& tensor, const Conventions& conventions,
                                  Checkpoint& written) {
    TensorCheck check(tensor);
    for (const PlannedTensor::Part& part : tensor.parts) {
      LOCKSTEP_ASSIGN_OR_RETURN(SourceTensor source,
                                SourceTensor::read(written, part.tensor, conventions));
      check.written_.push_back(std::move(source));
    }
    return check;
  }

  Status row(int64_t row, Scratch& scratch, Squares& squares) const {
    const auto cols = static_cast<size_t>(tensor_.format.cols);
    resize(tensor_, 1, scratch.rows);
    const RowPlace out = place(tensor_, 0, scratch.rows);
    LOCKSTEP_RETURN_IF_ERROR(encode(tensor_, row, scratch.values, out));
    MatrixView encoded = tensor_.format;
    encoded.rows = 1;
    encoded.data = out.data;
    encoded.scales = out.scales;
    encoded.biases = out.biases;
    const PartRow at = part_row(tensor_, row);
    for (auto* values : {&scratch.values, &scratch.encoded, &scratch.written}) {
      values->resize(cols);
    }
    decode_row(encoded, 0, scratch.encoded.data());
    written_[at.part].decode(at.row, scratch.written.data());
    if (std::memcmp(scratch.encoded.data(), scratch.written.data(), cols * sizeof(float)) != 0) {
      return Error{ErrorCode::kBadFile,
                   fmt::format("tensor {}, row {}, does not read back as it was written",
                               tensor_.name, row)};
    }
    tensor_.parts[at.part].source.decode(at.row, scratch.values.data());
    for (size_t k = 0; k < cols; ++k) {
      const double value = scratch.values[k];
      const double change = scratch.encoded[k] - value;
      squares.change += change * change;
      squares.values += value * value;
    }
    return {};
  }

 private:
  explicit TensorCheck(const PlannedTensor& tensor) : tensor_(tensor) {}
  const PlannedTensor& tensor_;
  std::vector<SourceTensor> written_;
};

double relative(const std::vector<Squares>& all) {
  Squares sum;
  for (const Squares& squares : all) {
    sum.change += squares.change;
    sum.values += squares.values;
  }
  return sum.values > 0.0 ? std::sqrt(sum.change / sum.values) : 0.0;
}

}  // namespace

int64_t PlannedTensor::rows() const {
  int64_t sum = 0;
  for (const Part& part : parts) sum += part.source.rows();
  return sum;
}

uint64_t Conversion::bytes() const {
  uint64_t sum = 0;
  for (const PlannedTensor& tensor : tensors) {
    sum += static_cast<uint64_t>(tensor.rows()) * tensor.row_bytes();
  }
  return sum;
}

Status write_rows(const Conversion& conversion, ThreadPool& pool, const Progress& progress,
                  const RowSink& sink) {
  TileLoop loop(pool, conversion.bytes(), progress);
  std::vector<Scratch> scratch(static_cast<size_t>(pool.threads()));
  for (size_t index = 0; index < conversion.tensors.size(); ++index) {
    const PlannedTensor& tensor = conversion.tensors[index];
    const auto work = [&](int64_t first, int64_t count, int thread) -> Status {
      Scratch& mine = scratch[static_cast<size_t>(thread)];
      resize(tensor, count, mine.rows);
      for (int64_t i = 0; i < count; ++i) {
        LOCKSTEP_RETURN_IF_ERROR(
            encode(tensor, first + i, mine.values, place(tensor, i, mine.rows)));
      }
      return sink(index, first, mine.rows);
    };
    LOCKSTEP_RETURN_IF_ERROR(loop.run(tensor.rows(), tensor.row_bytes(), work));
  }
  return {};
}

Result<ConversionError> read_back(const Conversion& conversion, const std::filesystem::path& path,
                                  ThreadPool& pool, const Progress& progress) {
  LOCKSTEP_ASSIGN_OR_RETURN(Checkpoint written, open_checkpoint(path, {}));
  TileLoop loop(pool, conversion.bytes(), progress);
  std::vector<Scratch> scratch(static_cast<size_t>(pool.threads()));
  ConversionError error;
  for (const PlannedTensor& tensor : conversion.tensors) {
    LOCKSTEP_ASSIGN_OR_RETURN(const TensorCheck check,
                              TensorCheck::make(tensor, conversion.conventions, written));
    std::vector<Squares> squares(static_cast<size_t>(pool.threads()));
    const auto work = [&](int64_t first, int64_t count, int thread) -> Status {
      const auto mine = static_cast<size_t>(thread);
      for (int64_t row = first; row < first + count; ++row) {
        LOCKSTEP_RETURN_IF_ERROR(check.row(row, scratch[mine], squares[mine]));
      }
      return {};
    };
    LOCKSTEP_RETURN_IF_ERROR(loop.run(tensor.rows(), tensor.row_bytes(), work));
    if (const double change = relative(squares); change > error.worst) {
      error = {change, tensor.name};
    }
  }
  LOCKSTEP_RETURN_IF_ERROR(check_no_unknown_tensors(written));
  return error;
}

}  // namespace lockstep
