#include "checkpoint/generation_config.h"

#include <algorithm>

#include "checkpoint/json_fields.h"

namespace lockstep {
namespace {

constexpr int64_t kMaxTokenId = (int64_t{1} << 31) - 1;

}  // namespace

void merge_eos_ids(const std::vector<int32_t>& more, std::vector<int32_t>& ids) {
  ids.insert(ids.end(), more.begin(), more.end());
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
}

Result<std::vector<int32_t>> read_eos_ids(const JsonFields& fields) {
  LOCKSTEP_ASSIGN_OR_RETURN(const auto ids, fields.integers("eos_token_id", {0, kMaxTokenId}));
  std::vector<int32_t> eos;
  merge_eos_ids({ids.begin(), ids.end()}, eos);
  return eos;
}

Result<GenerationConfig> read_generation_config(const json::value& root, std::string_view file) {
  if (!root.is_object()) {
    return Error{ErrorCode::kBadFile,
                 std::string(file) + ": found " + describe_found(&root) + ", expected an object"};
  }
  const JsonFields fields(root.get_object(), file, "");
  GenerationConfig config;
  if (fields.has("do_sample")) {
    LOCKSTEP_ASSIGN_OR_RETURN(config.do_sample, fields.boolean("do_sample"));
  }
  if (fields.has("top_k")) {
    LOCKSTEP_ASSIGN_OR_RETURN(config.top_k, fields.integer("top_k", {0, kMaxTokenId}));
  }
  const struct {
    const char* key;
    NumberRange range;
    std::optional<double>& out;
  } numbers[] = {
      {"temperature", {0.0, 100.0}, config.temperature},
      {"top_p", {0.0, 1.0, true}, config.top_p},
      {"min_p", {0.0, 1.0}, config.min_p},
      {"repetition_penalty", {0.0, 100.0, true}, config.repetition_penalty},
      {"presence_penalty", {-100.0, 100.0}, config.presence_penalty},
      {"frequency_penalty", {-100.0, 100.0}, config.frequency_penalty},
  };
  for (const auto& number : numbers) {
    LOCKSTEP_ASSIGN_OR_RETURN(number.out, fields.optional_number(number.key, number.range));
  }
  LOCKSTEP_ASSIGN_OR_RETURN(config.eos_ids, read_eos_ids(fields));
  return config;
}

}  // namespace lockstep
