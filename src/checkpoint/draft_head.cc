#include "checkpoint/draft_head.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "checkpoint/config_reader.h"
#include "checkpoint/draft_head_config.h"
#include "checkpoint/gguf/config.h"
#include "checkpoint/gguf/files.h"
#include "checkpoint/gguf/names.h"
#include "checkpoint/json_file.h"
#include "checkpoint/layout.h"
#include "checkpoint/safetensors_index.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;

struct Location {
  fs::path path;
  std::string how;
};

// A text at root[outer][inner], or root[inner] where `outer` is empty.
std::optional<std::string> find_text(const json::value& root, std::string_view outer,
                                     std::string_view inner) {
  const json::value* holder = &root;
  if (!outer.empty()) {
    holder =
        root.is_object() ? root.get_object().if_contains({outer.data(), outer.size()}) : nullptr;
  }
  if (holder == nullptr || !holder->is_object()) return std::nullopt;
  const json::value* text = holder->get_object().if_contains({inner.data(), inner.size()});
  if (text == nullptr || !text->is_string()) return std::nullopt;
  return std::string(text->get_string().data(), text->get_string().size());
}

// A relative path below the folder, without "..".
bool stays_inside(const std::string& name) {
  const fs::path path(name);
  if (name.empty() || name.find('\0') != std::string::npos || path.is_absolute()) return false;
  return std::all_of(path.begin(), path.end(),
                     [](const fs::path& part) { return is_plain_file_name(part.string()); });
}

Result<json::value> read_json_if_present(const fs::path& path) {
  if (!file_exists(path)) return json::value();
  return read_json_file(path, kMaxConfigBytes);
}

// What a file of the model's folder says about where its draft head lies.
Result<std::optional<Location>> referenced(const DraftHeadSearch& search,
                                           std::vector<std::string>& warnings) {
  LOCKSTEP_ASSIGN_OR_RETURN(const auto runtime,
                            read_json_if_present(search.folder / "mtplx_runtime.json"));
  const struct {
    const json::value& root;
    const char* outer;
    const char* inner;
    const char* file;
  } keys[] = {
      {runtime, "", "mtp_sidecar_file", "mtplx_runtime.json"},
      {runtime, "", "mtp_file", "mtplx_runtime.json"},
      {*search.config_root, "mlx_lm_extra_tensors", "mtp_file", "config.json"},
  };
  for (const auto& key : keys) {
    const auto name = find_text(key.root, key.outer, key.inner);
    if (!name) continue;
    if (!stays_inside(*name)) {
      return Error{ErrorCode::kBadFile,
                   fmt::format("{}: {}: found {}, expected a file in the same folder",
                               (search.folder / key.file).string(), key.inner,
                               quote_json(name->substr(0, 64)))};
    }
    if (file_exists(search.folder / *name)) {
      return std::optional<Location>({search.folder / *name, fmt::format("named by {}", key.file)});
    }
    warnings.push_back(
        fmt::format("{} names the draft head {}, which does not exist.", key.file, *name));
  }
  return std::optional<Location>();
}

std::vector<Location> known_places(const fs::path& folder) {
  std::vector<Location> found;
  for (const char* name :
       {"mtp/model.safetensors.index.json", "mtp/model.safetensors", "mtp/weights.safetensors"}) {
    if (!file_exists(folder / name)) continue;
    found.push_back({folder / "mtp", "the folder mtp in the checkpoint"});
    break;
  }
  std::vector<std::string> names;
  std::error_code code;
  for (fs::directory_iterator item(folder, code), end; !code && item != end; item.increment(code)) {
    const std::string name = item->path().filename().string();
    if (name == "mtp.safetensors" || (name.starts_with("mtp-") && name.ends_with(".safetensors"))) {
      names.push_back(name);
    }
  }
  std::sort(names.begin(), names.end(), [](const std::string& a, const std::string& b) {
    return a.size() != b.size() ? a.size() < b.size() : a < b;
  });
  for (const std::string& name : names) {
    found.push_back({folder / name, fmt::format("the file {} in the checkpoint", name)});
  }
  return found;
}

Result<std::optional<Location>> locate(const DraftHeadSearch& search,
                                       std::vector<std::string>& warnings) {
  if (!search.named.empty()) {
    return std::optional<Location>({search.named, "named by the user"});
  }
  LOCKSTEP_ASSIGN_OR_RETURN(auto location, referenced(search, warnings));
  if (location) return location;
  const auto places = known_places(search.folder);
  if (places.empty()) return std::optional<Location>();
  for (size_t i = 1; i < places.size(); ++i) {
    warnings.push_back(fmt::format("The draft head {} is not used: {} comes first.",
                                   places[i].path.string(), places[0].path.string()));
  }
  return std::optional<Location>(places[0]);
}

Result<WeightFiles> open_weights(const fs::path& path) {
  if (!file_exists(path)) {
    return Error{ErrorCode::kNotFound, fmt::format("{}: no such draft head", path.string())};
  }
  if (is_folder(path)) {
    const fs::path plain = path / "weights.safetensors";
    return file_exists(plain) ? open_weight_file(plain) : open_weight_folder(path);
  }
  return open_weight_file(path);
}

// Gives the tensors their canonical names and drops those of a whole model around the head.
Status keep_draft_tensors(const fs::path& path, WeightFiles& weights) {
  const auto any = [&](TensorRole role) {
    return std::any_of(weights.tensors.begin(), weights.tensors.end(), [&](const auto& record) {
      return role_of(canonical_name(record.source_name, NameScope::kModel)) == role;
    });
  };
  const bool prefixed = any(TensorRole::kDraft);
  const NameScope scope = prefixed ? NameScope::kModel : NameScope::kDraftHead;
  std::vector<TensorRecord> kept;
  for (TensorRecord& record : weights.tensors) {
    record.name = canonical_name(record.source_name, scope);
    const TensorRole role = role_of(record.name);
    if (role == TensorRole::kDraft) {
      kept.push_back(std::move(record));
    } else if (!prefixed || role == TensorRole::kUnknown) {
      return Error{ErrorCode::kBadFile,
                   fmt::format("{}: tensor {} is no part of a draft head (mtp.*, or fc, layers.0, "
                               "norm and pre_fc_norm_* in a folder of its own)",
                               path.string(), record.source_name)};
    }
  }
  weights.tensors = std::move(kept);
  return {};
}

// A GGUF file with the block after the last, and perhaps embedding and head around it or a whole
// model.
Status open_gguf_head(const fs::path& path, DraftHead& head) {
  LOCKSTEP_ASSIGN_OR_RETURN(GgufFiles files, open_gguf(path));
  LOCKSTEP_ASSIGN_OR_RETURN(const ModelConfig config, read_gguf_config(files.metadata));
  for (TensorRecord& record : files.tensors) {
    record.name =
        canonical_gguf_name(record.source_name, static_cast<int64_t>(config.layers.size()));
    if (role_of(record.name) == TensorRole::kDraft) head.weights.tensors.push_back(record);
  }
  head.weights.files = std::move(files.files);
  head.layout = Layout::kGguf;
  if (!head.weights.tensors.empty()) return {};
  return Error{ErrorCode::kBadFile, fmt::format("{}: no draft head in this file", path.string())};
}

Result<DraftHead> open_draft_head(const DraftHeadSearch& search, Location location) {
  DraftHead head;
  head.path = std::move(location.path);
  head.how = std::move(location.how);
  LOCKSTEP_ASSIGN_OR_RETURN(const auto gguf, find_gguf(head.path));
  if (gguf) {
    LOCKSTEP_RETURN_IF_ERROR(open_gguf_head(*gguf, head));
    return head;
  }
  LOCKSTEP_ASSIGN_OR_RETURN(head.weights, open_weights(head.path));
  LOCKSTEP_ASSIGN_OR_RETURN(head.layout, find_layout(head.weights.tensors));
  LOCKSTEP_RETURN_IF_ERROR(keep_draft_tensors(head.path, head.weights));

  const fs::path home = is_folder(head.path) ? head.path : head.path.parent_path();
  std::error_code ignored;
  const bool beside_model = fs::equivalent(home, search.folder, ignored);
  const fs::path config_path = home / "config.json";
  if (!beside_model && file_exists(config_path)) {
    LOCKSTEP_ASSIGN_OR_RETURN(const auto root, read_json_if_present(config_path));
    LOCKSTEP_RETURN_IF_ERROR(check_draft_head_config(root, config_path.string(), *search.config));
    LOCKSTEP_ASSIGN_OR_RETURN(
        head.quantization,
        read_quantization_config(root, config_path.string(), NameScope::kDraftHead));
    head.norm_encoding = find_norm_encoding(root);
  }
  if (!head.norm_encoding && search.named.empty()) {
    head.norm_encoding = find_norm_encoding(*search.config_root);
  }
  if (!head.norm_encoding) {
    const auto said = head.weights.metadata.find("mtp_norm_encoding");
    if (said != head.weights.metadata.end()) head.norm_encoding = said->second;
  }
  return head;
}

}  // namespace

std::optional<std::string> find_norm_encoding(const json::value& root) {
  for (const char* key : {"mtplx_mtp_norm_encoding", "mtp_norm_encoding"}) {
    if (auto text = find_text(root, "", key)) return text;
  }
  return find_text(root, "mtplx_mtp_quantization", "norm_encoding");
}

Result<std::optional<DraftHead>> find_draft_head(const DraftHeadSearch& search,
                                                 std::vector<std::string>& warnings) {
  LOCKSTEP_ASSIGN_OR_RETURN(auto location, locate(search, warnings));
  if (!location) return std::optional<DraftHead>();
  LOCKSTEP_ASSIGN_OR_RETURN(DraftHead head, open_draft_head(search, *std::move(location)));
  return std::optional<DraftHead>(std::move(head));
}

}  // namespace lockstep
