// How GGUF files number the types of their tensors.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/dtype.h"
#include "base/result.h"
#include "formats/block_type.h"

namespace lockstep {

// Elements of `dtype`, or blocks.
struct GgufTensorType {
  DType dtype = DType::kU8;         // U8 where there are blocks
  std::optional<BlockType> blocks;  // absent: plain elements

  int elements() const { return blocks ? block_shape(*blocks).elements : 1; }
  int64_t bytes() const {  // of `elements()` elements
    return blocks ? block_shape(*blocks).bytes : static_cast<int64_t>(size_of(dtype));
  }
};

// An unknown or unreadable type is an error that names it and lists what is read.
Result<GgufTensorType> gguf_tensor_type(uint32_t number);

// The number that a file gives a type that a model's weights may have.
uint32_t gguf_type_number(const GgufTensorType& type);

}  // namespace lockstep
