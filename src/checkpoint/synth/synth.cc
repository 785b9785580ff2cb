#include "checkpoint/synth/synth.h"

#include <fmt/format.h>

#include <system_error>
#include <utility>

#include "checkpoint/output_file.h"
#include "checkpoint/synth/config_files.h"
#include "checkpoint/synth/fill_modules.h"
#include "checkpoint/synth/plan.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;

// Larger models do not fit where bf16 is run; their 4-bit form does.
constexpr int64_t kLargestUnquantised = 10'000'000'000;  // parameters
constexpr uint64_t kTextAndHeaderBytes = 8u << 20;       // generous, for the space check

Error invalid(std::string message) { return {ErrorCode::kInvalidArgument, std::move(message)}; }

std::string gigabytes(uint64_t bytes) {
  return fmt::format("{:.2f} GB", static_cast<double>(bytes) / 1e9);
}

Status check_encoding(int bits, int group, DType dtype, bool may_be_dense) {
  if ((may_be_dense && bits == 0) || is_valid({bits, group, dtype})) return {};
  return invalid(
      fmt::format("no affine encoding has {} bits, groups of {} and scales in {}; bits "
                  "are 2, 3, 4, 5, 6 or 8, groups 32, 64 or 128, scales BF16, F16 or "
                  "F32",
                  bits, group, to_string(dtype)));
}

Status check_options(const SynthShape& shape, const SynthOptions& options) {
  LOCKSTEP_RETURN_IF_ERROR(check_encoding(options.bits, options.group, options.dtype, false));
  for (const SynthOverride& rule : options.overrides) {
    LOCKSTEP_RETURN_IF_ERROR(check_encoding(rule.bits, rule.group, options.dtype, true));
  }
  if (options.layout == Layout::kMlx) return {};
  if (options.mtp == SynthMtp::kSidecar) {
    return invalid("a draft head in a folder of its own exists only in the MLX layout");
  }
  const SynthParameters parameters = count_parameters(shape);
  if (parameters.text <= kLargestUnquantised) return {};
  const auto total = static_cast<uint64_t>(parameters.text + parameters.mtp);
  return Error{ErrorCode::kUnsupported,
               fmt::format("{} would take {} unquantised; only shapes up to 9b are written so, "
                           "larger ones in mlx4",
                           shape.name, gigabytes(total * size_of(options.dtype)))};
}

Status check_tokenizer(const SynthShape& shape, const LentTokenizer& tokenizer) {
  if (tokenizer.vocab <= shape.vocab) return {};
  return invalid(fmt::format("the tokenizer has {} entries, {} a vocabulary of {}", tokenizer.vocab,
                             shape.name, shape.vocab));
}

// Absent or an empty folder.
Status check_folder(const fs::path& folder) {
  std::error_code error;
  const fs::file_status status = fs::status(folder, error);
  if (status.type() == fs::file_type::not_found) return {};
  if (error) {
    return Error{ErrorCode::kIo, fmt::format("{}: {}", folder.string(), error.message())};
  }
  if (status.type() != fs::file_type::directory) {
    return invalid(fmt::format("{} exists and is not a folder", folder.string()));
  }
  const bool empty = fs::is_empty(folder, error);
  if (error) {
    return Error{ErrorCode::kIo, fmt::format("{}: {}", folder.string(), error.message())};
  }
  if (empty) return {};
  return invalid(fmt::format("{} exists and is not empty; name a new folder, or empty this one",
                             folder.string()));
}

Status check_space(const SynthShape& shape, const fs::path& folder, uint64_t needed) {
  std::error_code error;
  fs::path existing = fs::absolute(folder, error);
  while (!fs::exists(existing, error) && existing.has_relative_path()) {
    existing = existing.parent_path();
  }
  const fs::space_info space = fs::space(existing, error);
  if (error || space.available >= needed) return {};  // unknown space: the writer reserves it
  return Error{ErrorCode::kIo,
               fmt::format("{} needs {} of disk, {} has {} free", shape.name, gigabytes(needed),
                           existing.string(), gigabytes(space.available))};
}

// Removes the files that it was told of, and the folders if they are empty then, unless kept.
class Cleanup {
 public:
  explicit Cleanup(std::vector<fs::path> folders) : folders_(std::move(folders)) {}
  ~Cleanup() {
    std::error_code ignored;
    for (const fs::path& file : files_) fs::remove(file, ignored);
    for (const fs::path& folder : folders_) fs::remove(folder, ignored);
  }
  Cleanup(const Cleanup&) = delete;
  Cleanup& operator=(const Cleanup&) = delete;

  void add(fs::path file) { files_.push_back(std::move(file)); }
  void keep() {
    files_.clear();
    folders_.clear();
  }

 private:
  std::vector<fs::path> folders_;
  std::vector<fs::path> files_;
};

using WriterPointer = std::unique_ptr<SafetensorsWriter>;

Result<WriterPointer> create_writer(const fs::path& folder, const std::vector<TensorSpec>& tensors,
                                    const SynthOptions& options, Cleanup& cleanup) {
  SafetensorsWriterOptions writer_options;
  writer_options.shard_bytes = options.shard_bytes;
  writer_options.metadata = {{"format", options.layout == Layout::kMlx ? "mlx" : "pt"}};
  writer_options.durable = false;  // can be made again
  LOCKSTEP_ASSIGN_OR_RETURN(WriterPointer writer,
                            SafetensorsWriter::create(folder, tensors, writer_options));
  for (const std::string& name : writer->files()) cleanup.add(folder / name);
  return writer;
}

Status write_weights(const fs::path& folder, const SynthPlan& plan, const SynthOptions& options,
                     Cleanup& cleanup) {
  LOCKSTEP_ASSIGN_OR_RETURN(const WriterPointer trunk,
                            create_writer(folder, plan.trunk, options, cleanup));
  WriterPointer sidecar;
  if (!plan.sidecar.empty()) {
    LOCKSTEP_ASSIGN_OR_RETURN(sidecar,
                              create_writer(folder / "mtp", plan.sidecar, options, cleanup));
  }
  ThreadPool alone(1);
  ThreadPool& pool = options.pool != nullptr ? *options.pool : alone;
  LOCKSTEP_RETURN_IF_ERROR(fill_modules(plan, *trunk, sidecar.get(), pool, options.progress));
  LOCKSTEP_RETURN_IF_ERROR(trunk->finish());
  cleanup.add(folder / "model.safetensors.index.json");
  return sidecar ? sidecar->finish() : Status();
}

Status write_text(const fs::path& path, std::string_view text, Cleanup& cleanup) {
  LOCKSTEP_RETURN_IF_ERROR(write_text_file(path, text, /*durable=*/false));
  cleanup.add(path);
  return {};
}

}  // namespace

Result<Layout> parse_synth_format(std::string_view name) {
  if (name == "mlx4") return Layout::kMlx;
  if (name == "bf16") return Layout::kHuggingFace;
  return invalid(fmt::format("there is no format \"{}\"; known are mlx4, bf16", name));
}

Result<SynthReport> write_synthetic_checkpoint(const SynthShape& shape, const fs::path& folder,
                                               const SynthOptions& options) {
  LOCKSTEP_RETURN_IF_ERROR(check_options(shape, options));
  LOCKSTEP_RETURN_IF_ERROR(check_folder(folder));
  LOCKSTEP_ASSIGN_OR_RETURN(const LentTokenizer tokenizer,
                            read_lent_tokenizer(options.tokenizer_folder));
  LOCKSTEP_RETURN_IF_ERROR(check_tokenizer(shape, tokenizer));
  const SynthPlan plan = plan_checkpoint(shape, options);
  LOCKSTEP_RETURN_IF_ERROR(check_space(shape, folder, plan.tensor_bytes + kTextAndHeaderBytes));

  const bool sidecar = !plan.sidecar.empty();
  const fs::path innermost = sidecar ? folder / "mtp" : folder;
  std::error_code error;
  const bool existed = fs::exists(folder, error);
  fs::create_directories(innermost, error);
  if (error) {
    return Error{ErrorCode::kIo,
                 fmt::format("cannot create {}: {}", innermost.string(), error.message())};
  }
  std::vector<fs::path> created;
  if (sidecar) created.push_back(innermost);
  if (!existed) created.push_back(folder);
  Cleanup cleanup(std::move(created));
  LOCKSTEP_RETURN_IF_ERROR(write_weights(folder, plan, options, cleanup));
  for (const LentTokenizer::File& file : tokenizer.files) {
    LOCKSTEP_RETURN_IF_ERROR(write_text(folder / file.name, file.text, cleanup));
  }
  if (sidecar) {
    LOCKSTEP_RETURN_IF_ERROR(write_text(folder / "mtp" / "config.json",
                                        sidecar_config_text(shape, options, plan, tokenizer),
                                        cleanup));
  }
  LOCKSTEP_RETURN_IF_ERROR(
      write_text(folder / "config.json", config_text(shape, options, plan, tokenizer), cleanup));
  cleanup.keep();
  const SynthParameters parameters = count_parameters(shape);
  return SynthReport{folder,
                     plan.tensor_bytes,
                     static_cast<int64_t>(plan.trunk.size() + plan.sidecar.size()),
                     {parameters.text, options.mtp == SynthMtp::kAbsent ? 0 : parameters.mtp}};
}

}  // namespace lockstep
