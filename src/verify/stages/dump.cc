#include "verify/stages/dump.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json.h"
#include "checkpoint/mapped_file.h"
#include "checkpoint/output_file.h"
#include "model/stages.h"

namespace lockstep::verify {
namespace {

template <typename T>
void append(std::string& file, const std::vector<T>& values) {
  const auto bytes = std::as_bytes(std::span(values));
  file.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

class Header {
 public:
  explicit Header(const DumpIdentity& identity) {
    object_["__metadata__"] =
        json::object{{"format", "lockstep-stages-1"}, {"producer", identity.producer},
                     {"source", identity.source},     {"precision", identity.precision},
                     {"weights", identity.weights},   {"vocab", std::to_string(identity.vocab)},
                     {"bytes", std::string(16, '0')}, {"crc32", std::string(8, '0')}};
  }

  void add(const std::string& name, const char* dtype, std::initializer_list<int64_t> shape) {
    uint64_t end = end_ + 4;
    for (const int64_t extent : shape) end = end_ + (end - end_) * static_cast<uint64_t>(extent);
    object_[name] = json::object{{"dtype", dtype},
                                 {"shape", json::array(shape.begin(), shape.end())},
                                 {"data_offsets", json::array{end_, end}}};
    end_ = end;
  }

  // Padded so that the tensors begin at a multiple of eight.
  std::string text() const {
    std::string text = dump_json(object_);
    text.append((8 - text.size() % 8) % 8, ' ');
    return text;
  }

 private:
  json::object object_;
  uint64_t end_ = 0;
};

}  // namespace

const StageRows* StageDump::find(std::string_view name) const {
  const auto found = std::find_if(stages.begin(), stages.end(),
                                  [&](const StageRows& stage) { return stage.name == name; });
  return found == stages.end() ? nullptr : &*found;
}

StageRows& StageDump::at(std::string_view name, int64_t width) {
  for (StageRows& stage : stages) {
    if (stage.name == name) return stage;
  }
  return stages.emplace_back(StageRows{std::string(name), width, {}});
}

int64_t StageDump::rows_of(std::string_view name) const {
  const bool last = !positions.empty() && positions.back() + 1 == std::ssize(ids);
  return std::ssize(positions) - (is_draft_stage(name) && last ? 1 : 0);
}

std::string stage_key(std::string_view stage, int64_t layer, int64_t layers) {
  if (layer < 0 || layer == layers) return std::string(stage);
  if (layer > layers) return fmt::format("draft.{}", stage);
  return fmt::format("layers.{}.{}", layer, stage);
}

bool is_draft_stage(std::string_view name) {
  return name.starts_with("draft.") || name.starts_with("mtp_");
}

std::string to_bytes(const StageDump& dump) {
  Header header(dump.identity);
  header.add("ids", "I32", {std::ssize(dump.ids)});
  header.add("positions", "I32", {std::ssize(dump.positions)});
  for (const StageRows& stage : dump.stages) {
    header.add(stage.name, "F32", {stage.rows(), stage.width});
  }
  const std::string text = header.text();
  const uint64_t length = text.size();
  std::string file(reinterpret_cast<const char*>(&length), sizeof(length));
  file += text;
  append(file, dump.ids);
  append(file, dump.positions);
  for (const StageRows& stage : dump.stages) append(file, stage.data);
  LOCKSTEP_CHECK(seal_dump(file), "a header of our own has no place for its checksum");
  return file;
}

Status write_dump(const std::filesystem::path& path, const StageDump& dump) {
  const std::string bytes = to_bytes(dump);
  LOCKSTEP_ASSIGN_OR_RETURN(OutputFile file, OutputFile::create(path, bytes.size()));
  LOCKSTEP_RETURN_IF_ERROR(file.write(0, std::as_bytes(std::span(bytes))));
  return file.publish(false);
}

Result<StageDump> read_dump(const std::filesystem::path& path) {
  LOCKSTEP_ASSIGN_OR_RETURN(const MappedFile file, MappedFile::open(path));
  return parse_dump(file.bytes(), path.string());
}

Status check_same_weights(const StageDump& a, std::string_view a_name, const std::string& weights,
                          std::string_view b_name) {
  if (a.identity.weights == weights) return {};
  return Error{ErrorCode::kInvalidArgument,
               fmt::format("{} is of other weights (CRC-32 {}) than {} ({}): only stages of one "
                           "checkpoint can be compared",
                           a_name, a.identity.weights, b_name, weights)};
}

}  // namespace lockstep::verify
