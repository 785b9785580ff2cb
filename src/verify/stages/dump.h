// Stages of a forward pass as a file: one layout for this engine, its float64 pass and the tools of
// python/ (python/stage_dump.py writes the same).
//
// The file is safetensors. Its metadata say
//   format     "lockstep-stages-1"
//   producer   who computed it, "lockstep 0.1.0" or "mlx-lm 0.32.2"
//   source     what it is: "engine", "float64-own" (each stage fed the engine's own input),
//              "float64-chained" (from the ids), or "other"
//   precision  Model::precision_tuple, or another program's own words
//   weights    CRC-32 of the checkpoint's weight files in path order, 8 hexadecimal digits
//   vocab      V
//   bytes      of the whole file, 16 decimal digits
//   crc32      of the whole file, read with zeros in the place of these 8 digits
// and its tensors are
//   ids        I32 [T]: the whole sequence
//   positions  I32 [P]: those that are kept, ascending
//   STAGE      F32 [P, width] for each stage, by stage_key(). Stages of a draft head ("draft.*",
//              "mtp_post.*", "mtp_pre.*") have no row at position T - 1, which no token follows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace lockstep::verify {

struct DumpIdentity {
  std::string producer;
  std::string source;
  std::string precision;
  std::string weights;
  int64_t vocab = 0;
};

struct StageRows {
  std::string name;
  int64_t width = 0;
  std::vector<float> data;  // [rows, width]

  int64_t rows() const { return static_cast<int64_t>(data.size()) / width; }
  std::span<const float> row(int64_t i) const {
    return std::span(data).subspan(static_cast<size_t>(i * width), static_cast<size_t>(width));
  }
};

struct StageDump {
  DumpIdentity identity;
  std::vector<int32_t> ids;
  std::vector<int32_t> positions;
  std::vector<StageRows> stages;

  // Null: not in this dump.
  const StageRows* find(std::string_view name) const;
  // The stage of that name, made empty if it is not there.
  StageRows& at(std::string_view name, int64_t width);
  // Rows that a stage of that name has.
  int64_t rows_of(std::string_view name) const;
};

// The name of a stage that a tap saw at `layer` of a model with `layers` layers: "embed",
// "layers.3.q_proj", "final_norm", "draft.q_proj".
std::string stage_key(std::string_view stage, int64_t layer, int64_t layers);
// Whether a row of this stage joins a position with the token after it.
bool is_draft_stage(std::string_view name);

// The file's bytes, complete and sealed.
std::string to_bytes(const StageDump& dump);
// `name` names the file in messages. Errors, each by name: not a dump, truncated, a wrong checksum,
// ids outside the vocabulary, positions not ascending or outside the sequence, a stage of another
// shape.
Result<StageDump> parse_dump(std::span<const std::byte> file, std::string_view name);
// Writes the right size and checksum into the bytes of a dump; false where there is no place.
bool seal_dump(std::string& file);

// Nothing bears the name before all of it is written; a file that exists is refused.
Status write_dump(const std::filesystem::path& path, const StageDump& dump);
Result<StageDump> read_dump(const std::filesystem::path& path);

// An error that says how the two differ, unless both are of the same weights.
Status check_same_weights(const StageDump& a, std::string_view a_name, const std::string& weights,
                          std::string_view b_name);

}  // namespace lockstep::verify
