#include "checkpoint/gguf/tensor_type.h"

#include <fmt/format.h>

#include "base/check.h"

namespace lockstep {
namespace {

struct PlainType {
  uint32_t number;
  DType dtype;
};
constexpr PlainType kPlain[] = {{0, DType::kF32},  {1, DType::kF16},  {24, DType::kI8},
                                {26, DType::kI32}, {27, DType::kI64}, {28, DType::kF64},
                                {30, DType::kBF16}};

struct BlockNumber {
  uint32_t number;
  BlockType type;
};
constexpr BlockNumber kBlockNumbers[kBlockTypes] = {
    {2, BlockType::kQ4_0},  {3, BlockType::kQ4_1},    {6, BlockType::kQ5_0},
    {7, BlockType::kQ5_1},  {8, BlockType::kQ8_0},    {10, BlockType::kQ2_K},
    {11, BlockType::kQ3_K}, {12, BlockType::kQ4_K},   {13, BlockType::kQ5_K},
    {14, BlockType::kQ6_K}, {20, BlockType::kIQ4_NL}, {23, BlockType::kIQ4_XS}};

// What ggml calls the types that are not read, for messages.
struct ForeignType {
  uint32_t number;
  const char* name;
};
constexpr ForeignType kForeign[] = {
    {4, "Q4_2"},     {5, "Q4_3"},   {9, "Q8_1"},   {15, "Q8_K"},  {16, "IQ2_XXS"}, {17, "IQ2_XS"},
    {18, "IQ3_XXS"}, {19, "IQ1_S"}, {21, "IQ3_S"}, {22, "IQ2_S"}, {25, "I16"},     {29, "IQ1_M"},
    {34, "TQ1_0"},   {35, "TQ2_0"}, {39, "MXFP4"}, {40, "NVFP4"}};

}  // namespace

Result<GgufTensorType> gguf_tensor_type(uint32_t number) {
  for (const PlainType& plain : kPlain) {
    if (plain.number == number) return GgufTensorType{plain.dtype, {}};
  }
  for (const BlockNumber& block : kBlockNumbers) {
    if (block.number == number) return GgufTensorType{DType::kU8, block.type};
  }
  std::string found = fmt::format("{}", number);
  for (const ForeignType& foreign : kForeign) {
    if (foreign.number == number) found = fmt::format("{} ({})", number, foreign.name);
  }
  std::string readable = "F32, F16, BF16";
  for (int i = 0; i < kBlockTypes; ++i) {
    readable += fmt::format(", {}", to_string(static_cast<BlockType>(i)));
  }
  return Error{ErrorCode::kUnsupported,
               fmt::format("found ggml type {}; what is read is {}", found, readable)};
}

uint32_t gguf_type_number(const GgufTensorType& type) {
  for (const BlockNumber& block : kBlockNumbers) {
    if (type.blocks == block.type) return block.number;
  }
  for (const PlainType& plain : kPlain) {
    if (type.dtype == plain.dtype) return plain.number;
  }
  LOCKSTEP_CHECK(false, to_string(type.dtype));
  return 0;
}

}  // namespace lockstep
