// A conversion planned: what each tensor of the new file is made of. Writing and checking run over
// the same plan.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/thread_pool.h"
#include "checkpoint/source_tensor.h"
#include "checkpoint/tile_loop.h"
#include "formats/matrix.h"

namespace lockstep {

struct PlannedTensor {
  struct Part {
    ModelTensor tensor;
    SourceTensor source;
  };
  std::string name;            // as the file spells it
  std::vector<int64_t> shape;  // of the values
  MatrixView format;           // the encoding of a row; rows and bytes are of no meaning
  // Blocks of `part_rows` rows of each part in turn: the gates and ups of fused experts. Otherwise
  // one part of all rows.
  std::vector<Part> parts;
  int64_t part_rows = 0;

  int64_t rows() const;
  uint64_t row_bytes() const { return format.row_bytes() + 2 * format.scale_row_bytes(); }
  bool draft() const { return parts.front().tensor.draft(); }
};

struct Conversion {
  Conventions conventions;  // of the new file
  std::vector<PlannedTensor> tensors;

  uint64_t bytes() const;
};

// Encoded rows, one after another; scales and biases are empty where the encoding has none.
struct EncodedRows {
  std::vector<std::byte> data, scales, biases;
};

// Takes `rows` of tensor `index` of the plan, from row `first` on. Called by several threads.
using RowSink = std::function<Status(size_t index, int64_t first, const EncodedRows& rows)>;

// Encodes every row. A row whose encoding is already the wanted one is copied.
Status write_rows(const Conversion& conversion, ThreadPool& pool, const Progress& progress,
                  const RowSink& sink);

// What conversion did to the values of the matrices.
struct ConversionError {
  double worst = 0.0;  // of a tensor: root mean square of the change over that of the values
  std::string tensor;  // which
};

// Reads the new checkpoint at `path` as any other is read and holds every value to what was
// encoded. Another bit, or a tensor too many, is an error.
Result<ConversionError> read_back(const Conversion& conversion, const std::filesystem::path& path,
                                  ThreadPool& pool, const Progress& progress);

}  // namespace lockstep
