#include "checkpoint/checkpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/json.h"
#include "checkpoint/checkpoint_files.h"
#include "checkpoint/config_reader.h"
#include "checkpoint/draft_head.h"
#include "checkpoint/draft_head_check.h"
#include "checkpoint/foreign_format.h"
#include "checkpoint/gguf/model.h"
#include "checkpoint/head_source.h"
#include "checkpoint/json_file.h"
#include "checkpoint/layout.h"
#include "checkpoint/mtp_norms.h"
#include "checkpoint/page_loader.h"
#include "checkpoint/tensor_names.h"
#include "checkpoint/weight_files.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;

constexpr const char* kOtherDraftHead =
    "; turn the draft head off (--no-mtp), or name one of this model (--mtp PATH)";

// The steps of opening, in the order in which they are called.
class Opener {
 public:
  explicit Opener(const OpenOptions& options) : options_(options) {}

  Result<Checkpoint> open(const fs::path& path);

 private:
  Status read_folder();
  Status read_gguf(const fs::path& file);
  Status check_folder();
  Status read_configs();
  Status read_generation();
  Status open_weights();
  Status attach_draft_head();
  Status use_sidecar(DraftHead head);
  Status use_included();
  Status finish_tensors();
  Status settle_vocabulary();
  Status settle_draft_head();

  bool includes_draft_head() const;
  fs::path file(const char* name) const { return out_.path / name; }
  void warn(std::string sentence) { out_.warnings.push_back(std::move(sentence)); }

  const OpenOptions& options_;
  Checkpoint out_;
  json::value config_root_;
  std::vector<TensorRecord> records_;
  MtpNormEvidence norm_evidence_;
};

Status Opener::check_folder() {
  std::error_code code;
  const fs::file_status status = fs::status(out_.path, code);
  if (status.type() == fs::file_type::not_found) {
    return Error{ErrorCode::kNotFound, fmt::format("{}: no such folder", out_.path.string())};
  }
  if (code) return Error{ErrorCode::kIo, fmt::format("{}: {}", out_.path.string(), code.message())};
  if (!fs::is_directory(status)) return not_a_folder_error(out_.path);
  if (file_exists(file("config.json"))) return {};
  const bool weights =
      file_exists(file("model.safetensors")) || file_exists(file("model.safetensors.index.json"));
  if (!weights) return no_weights_error(out_.path);
  return Error{ErrorCode::kNotFound, fmt::format("{}: no config.json", out_.path.string())};
}

Status Opener::read_configs() {
  const std::string name = file("config.json").string();
  LOCKSTEP_ASSIGN_OR_RETURN(config_root_, read_json_file(file("config.json"), kMaxConfigBytes));
  LOCKSTEP_ASSIGN_OR_RETURN(out_.config, read_model_config(config_root_, name));
  LOCKSTEP_ASSIGN_OR_RETURN(out_.quantization,
                            read_quantization_config(config_root_, name, NameScope::kModel));
  if (file_exists(file("hf_quant_config.json"))) {
    return Error{ErrorCode::kUnsupported,
                 fmt::format("{}: ModelOpt formats (FP8, NVFP4) are not read yet; {}",
                             file("hf_quant_config.json").string(), kReadableFormats)};
  }
  out_.warnings = std::move(out_.config.warnings);
  out_.config.warnings.clear();
  return {};
}

Status Opener::read_generation() {
  if (!file_exists(file("generation_config.json"))) return {};
  const std::string name = file("generation_config.json").string();
  LOCKSTEP_ASSIGN_OR_RETURN(const auto root,
                            read_json_file(file("generation_config.json"), kMaxConfigBytes));
  LOCKSTEP_ASSIGN_OR_RETURN(out_.generation, read_generation_config(root, name));
  merge_eos_ids(out_.generation.eos_ids, out_.config.eos_ids);
  return {};
}

Status Opener::open_weights() {
  LOCKSTEP_ASSIGN_OR_RETURN(WeightFiles weights, open_weight_folder(out_.path));
  out_.files = std::move(weights.files);
  records_ = std::move(weights.tensors);
  for (TensorRecord& record : records_) {
    record.name = canonical_name(record.source_name, NameScope::kModel);
  }
  LOCKSTEP_ASSIGN_OR_RETURN(const auto layout, find_layout(records_));
  if (!layout) {
    return Error{ErrorCode::kBadFile,
                 fmt::format("{}: no linear_attn.conv1d tensor, whose shape tells how norms are "
                             "stored: not a checkpoint of this family, or incomplete",
                             out_.path.string())};
  }
  out_.layout = *layout;
  out_.norms.add_one = *layout == Layout::kHuggingFace;
  out_.norms.reason = out_.norms.add_one
                          ? "Convolutions are [C, 1, 4] (Hugging Face layout): 1 is added."
                          : "Convolutions are [C, 4, 1] (MLX layout): 1 is already in the weights.";
  return {};
}

Status Opener::read_folder() {
  LOCKSTEP_RETURN_IF_ERROR(check_folder());
  LOCKSTEP_RETURN_IF_ERROR(read_configs());
  LOCKSTEP_RETURN_IF_ERROR(read_generation());
  return open_weights();
}

Status Opener::read_gguf(const fs::path& file) {
  out_.path = file;
  LOCKSTEP_ASSIGN_OR_RETURN(GgufModel model, open_gguf_model(file));
  out_.config = std::move(model.config);
  out_.generation = std::move(model.generation);
  out_.config.eos_ids = out_.generation.eos_ids;
  out_.gguf = std::move(model.files.metadata);
  out_.files = std::move(model.files.files);
  records_ = std::move(model.files.tensors);
  config_root_ = json::object();
  out_.layout = Layout::kGguf;
  out_.norms = {false, "GGUF: 1 is already in the weights."};
  return {};
}

bool Opener::includes_draft_head() const {
  return std::any_of(records_.begin(), records_.end(), [](const TensorRecord& record) {
    return role_of(record.name) == TensorRole::kDraft;
  });
}

Status Opener::attach_draft_head() {
  if (!options_.use_mtp) {
    if (!options_.mtp_path.empty()) {
      return Error{ErrorCode::kInvalidArgument,
                   fmt::format("the draft head {} is named and draft heads are turned off",
                               options_.mtp_path.string())};
    }
    out_.mtp.reason = "Turned off.";
    return {};
  }
  if (options_.mtp_path.empty() && includes_draft_head()) return use_included();
  if (out_.layout == Layout::kGguf && options_.mtp_path.empty()) {
    out_.mtp.reason = "The file has none.";
    return {};
  }
  const DraftHeadSearch search{.folder = out_.path,
                               .named = options_.mtp_path,
                               .config_root = &config_root_,
                               .config = &out_.config};
  auto head = find_draft_head(search, out_.warnings);
  if (!head.ok()) return Error{head.error().code, head.error().message + kOtherDraftHead};
  if (head.value()) return use_sidecar(*std::move(head).value());
  out_.mtp.reason = out_.config.mtp_layers > 0
                        ? "config.json announces a draft head, but no file holds one."
                        : "The checkpoint has none.";
  return {};
}

Status Opener::use_included() {
  out_.mtp = {MtpOrigin::kIncluded, {}, "Included in the checkpoint."};
  out_.mtp_quantization = out_.quantization;
  const JsonFields top(config_root_.get_object(), "config.json", "");
  LOCKSTEP_ASSIGN_OR_RETURN(const auto own, top.object("mtplx_mtp_quantization"));
  if (own) {
    LOCKSTEP_ASSIGN_OR_RETURN(out_.mtp_quantization,
                              read_quantization_object(*own, NameScope::kModel));
  }
  norm_evidence_ = {find_norm_encoding(config_root_), out_.layout};
  return {};
}

Status Opener::use_sidecar(DraftHead head) {
  for (TensorRecord& record : records_) {
    if (role_of(record.name) == TensorRole::kDraft) record.name = replaced_name(record.name);
  }
  std::move(head.weights.tensors.begin(), head.weights.tensors.end(), std::back_inserter(records_));
  std::move(head.weights.files.begin(), head.weights.files.end(), std::back_inserter(out_.files));
  out_.mtp = {MtpOrigin::kSidecar, head.path,
              fmt::format("{} ({}).", head.path.string(), head.how)};
  out_.mtp_quantization = std::move(head.quantization);
  norm_evidence_ = {std::move(head.norm_encoding), head.layout};
  return {};
}

Status Opener::finish_tensors() {
  LOCKSTEP_ASSIGN_OR_RETURN(out_.tensors, TensorSource::make(std::move(records_)));
  const auto& tensors = out_.tensors.tensors();
  out_.used.assign(tensors.size(), false);
  out_.config.has_vision = std::any_of(tensors.begin(), tensors.end(), [](const auto& record) {
    return role_of(record.name) == TensorRole::kVision;
  });
  HeadSource head = head_source(out_.config, out_.tensors);
  if (head.odd) warn(head.reason);
  out_.head_module = std::move(head.module);
  out_.head_reason = std::move(head.reason);
  return {};
}

// Fine-tuners trim or extend the vocabulary and forget the config: the embedding decides.
Status Opener::settle_vocabulary() {
  const std::string name = std::string(kEmbeddingModule) + ".weight";
  const TensorRecord* embedding = out_.tensors.find(name);
  if (embedding != nullptr && embedding->shape.size() == 2) {
    const int64_t rows = embedding->shape[0];
    if (rows != out_.config.vocab_size && rows > 0) {
      warn(fmt::format("config.json says vocab_size {}, but {} has {} rows; the rows count.",
                       out_.config.vocab_size, embedding->source_name, rows));
      out_.config.vocab_size = rows;
    }
  }
  for (const int32_t id : out_.config.eos_ids) {
    if (id < out_.config.vocab_size) continue;
    warn(fmt::format("The stop token {} is outside the vocabulary of {} and can never come.", id,
                     out_.config.vocab_size));
  }
  return {};
}

Status Opener::settle_draft_head() {
  ModelConfig& config = out_.config;
  if (out_.mtp.origin == MtpOrigin::kNone) {
    config.mtp_layers = 0;
    return {};
  }
  if (config.mtp_layers > 1 || config.mtp_dedicated_embeddings) {
    return Error{ErrorCode::kUnsupported,
                 fmt::format("{}: found a draft head with {}, expected one layer that shares the "
                             "model's embedding; turn it off (--no-mtp)",
                             out_.path.string(),
                             config.mtp_layers > 1 ? fmt::format("{} layers", config.mtp_layers)
                                                   : "an embedding of its own")};
  }
  config.mtp_layers = 1;
  const Status fits = check_draft_head(out_);
  if (!fits.ok()) {
    return Error{fits.error().code, fmt::format("the draft head does not fit this model: {}{}",
                                                fits.error().message, kOtherDraftHead)};
  }
  LOCKSTEP_ASSIGN_OR_RETURN(out_.mtp_norms, decide_mtp_norms(out_, norm_evidence_, out_.warnings));
  return {};
}

Result<Checkpoint> Opener::open(const fs::path& path) {
  out_.path = path;
  LOCKSTEP_ASSIGN_OR_RETURN(const auto gguf, find_gguf(path));
  LOCKSTEP_RETURN_IF_ERROR(gguf ? read_gguf(*gguf) : read_folder());
  LOCKSTEP_RETURN_IF_ERROR(attach_draft_head());
  LOCKSTEP_RETURN_IF_ERROR(finish_tensors());
  LOCKSTEP_RETURN_IF_ERROR(settle_vocabulary());
  LOCKSTEP_RETURN_IF_ERROR(settle_draft_head());
  if (options_.progress) LOCKSTEP_RETURN_IF_ERROR(load_pages(out_, options_.progress));
  LOCKSTEP_RETURN_IF_ERROR(check_files(out_));
  return std::move(out_);
}

}  // namespace

Result<Checkpoint> open_checkpoint(const fs::path& path, const OpenOptions& options) {
  return Opener(options).open(path);
}

}  // namespace lockstep
