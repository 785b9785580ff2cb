#include "kernels/linear/weight_class.h"

#include <utility>

namespace lockstep {

ShapeClass weight_class(std::string op, const MatrixView& weight) {
  return {.op = std::move(op),
          .dims = {{".encoding", static_cast<int64_t>(weight.encoding)},
                   {".dtype", static_cast<int64_t>(weight.dtype)},
                   {".bits", weight.bits},
                   {".group", weight.group},
                   {".block", static_cast<int64_t>(weight.block)},
                   {"n", weight.rows},
                   {"k", weight.cols}},
          .label = encoding_name(weight)};
}

MatrixView weight_of_class(const ShapeClass& shape) {
  return {.encoding = static_cast<Encoding>(shape.at(".encoding")),
          .dtype = static_cast<DType>(shape.at(".dtype")),
          .bits = static_cast<int>(shape.at(".bits")),
          .group = static_cast<int>(shape.at(".group")),
          .block = static_cast<BlockType>(shape.at(".block")),
          .rows = shape.at("n"),
          .cols = shape.at("k")};
}

}  // namespace lockstep
