#include <fmt/format.h>

#include "checkpoint/checkpoint_files.h"
#include "checkpoint/convert/convert.h"
#include "checkpoint/convert/gguf_plan.h"
#include "checkpoint/gguf/config.h"
#include "checkpoint/gguf/writer.h"
#include "checkpoint/output_file.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;

// llama.cpp's numbers for what most of a file is in, general.file_type.
struct NamedType {
  std::string_view name;
  GgufTensorType type;
  uint32_t file_type;
};
constexpr NamedType kTypes[] = {
    {"f32", {DType::kF32, {}}, 0},
    {"f16", {DType::kF16, {}}, 1},
    {"bf16", {DType::kBF16, {}}, 32},
    {"q8_0", {DType::kU8, BlockType::kQ8_0}, 7},
    {"q4_0", {DType::kU8, BlockType::kQ4_0}, 2},
    {"q4_k", {DType::kU8, BlockType::kQ4_K}, 14},
};
// Of the layout of blocks; the only one since 2023.
constexpr uint32_t kQuantizationVersion = 2;

uint32_t file_type_of(const GgufTensorType& type) {
  for (const NamedType& known : kTypes) {
    if (known.type.dtype == type.dtype && known.type.blocks == type.blocks) return known.file_type;
  }
  return 0;
}

Result<GgufWriter> lay_out(const Checkpoint& source, const GgufText& text,
                           const GgufTensorType& type, const Conversion& plan) {
  GgufWriter writer;
  LOCKSTEP_RETURN_IF_ERROR(add_gguf_config(source.config, writer));
  writer.add("general.file_type", file_type_of(type));
  if (type.blocks) writer.add("general.quantization_version", kQuantizationVersion);
  add_gguf_generation(source.generation, writer);
  add_gguf_text(text, writer);
  for (const PlannedTensor& tensor : plan.tensors) {
    writer.add_tensor(tensor.name, gguf_type_of(tensor), tensor.shape);
  }
  return writer;
}

}  // namespace

Result<GgufTensorType> parse_gguf_type(std::string_view name) {
  std::string known;
  for (const NamedType& type : kTypes) {
    if (type.name == name) return type.type;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", type.name);
  }
  return Error{ErrorCode::kInvalidArgument,
               fmt::format("there is no type \"{}\"; known are {}", name, known)};
}

Result<ConvertReport> convert_to_gguf(Checkpoint& source, const GgufText& text,
                                      const GgufTensorType& type, const fs::path& path,
                                      const ConvertOptions& options) {
  LOCKSTEP_ASSIGN_OR_RETURN(const Conversion plan, plan_gguf(source, type));
  LOCKSTEP_RETURN_IF_ERROR(check_no_unknown_tensors(source));
  LOCKSTEP_ASSIGN_OR_RETURN(const GgufWriter layout, lay_out(source, text, type, plan));
  LOCKSTEP_ASSIGN_OR_RETURN(OutputFile file, OutputFile::create(path, layout.file_bytes()));
  const std::string header = layout.header();
  LOCKSTEP_RETURN_IF_ERROR(file.write(0, std::as_bytes(std::span(header))));
  ThreadPool alone(1);
  ThreadPool& pool = options.pool != nullptr ? *options.pool : alone;
  const RowSink sink = [&](size_t index, int64_t first, const EncodedRows& rows) {
    const uint64_t row_bytes = plan.tensors[index].row_bytes();
    return file.write(layout.offset_of(index) + static_cast<uint64_t>(first) * row_bytes,
                      rows.data);
  };
  LOCKSTEP_RETURN_IF_ERROR(write_rows(plan, pool, options.writing, sink));
  LOCKSTEP_ASSIGN_OR_RETURN(const ConversionError error,
                            read_back(plan, file.partial_path(), pool, options.checking));
  LOCKSTEP_RETURN_IF_ERROR(check_files(source));
  LOCKSTEP_RETURN_IF_ERROR(file.publish(/*durable=*/true));
  return ConvertReport{path, static_cast<int64_t>(plan.tensors.size()), plan.bytes(), error};
}

}  // namespace lockstep
