#include <fmt/format.h>

#include <system_error>
#include <utility>

#include "checkpoint/checkpoint_files.h"
#include "checkpoint/config_writer.h"
#include "checkpoint/convert/convert.h"
#include "checkpoint/convert/folder_plan.h"
#include "checkpoint/head_source.h"
#include "checkpoint/output_file.h"
#include "checkpoint/safetensors_writer.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;

Error io_error(const fs::path& path, const std::string& what) {
  return {ErrorCode::kIo, fmt::format("{}: {}", path.string(), what)};
}

// PATH.partial, which becomes PATH when all of it is written; removed where that does not come.
class PartialFolder {
 public:
  static Result<PartialFolder> create(const fs::path& path) {
    std::error_code code;
    if (fs::symlink_status(path, code).type() != fs::file_type::not_found) {
      return io_error(path, "exists already; nothing is overwritten");
    }
    PartialFolder folder(path);
    if (fs::create_directory(folder.partial(), code)) {
      folder.made_ = true;
      return folder;
    }
    if (code) return io_error(folder.partial(), code.message());
    return io_error(folder.partial(),
                    "exists already, perhaps left over from an interrupted write: remove it first");
  }
  ~PartialFolder() {
    std::error_code ignored;
    if (made_) fs::remove_all(partial(), ignored);
  }
  PartialFolder(PartialFolder&& other) noexcept
      : path_(std::move(other.path_)), made_(std::exchange(other.made_, false)) {}
  PartialFolder& operator=(PartialFolder&&) = delete;

  fs::path partial() const { return path_.string() + ".partial"; }

  Status publish() {
    std::error_code code;
    fs::rename(partial(), path_, code);
    if (code) return io_error(path_, code.message());
    made_ = false;
    return {};
  }

 private:
  explicit PartialFolder(fs::path path) : path_(std::move(path)) {}
  fs::path path_;
  bool made_ = false;
};

using WriterPointer = std::unique_ptr<SafetensorsWriter>;

// The tensors of one set of files.
class FileSet {
 public:
  void add(const PlannedTensor& tensor) {
    places_.push_back(specs_.size());
    std::vector<int64_t> shape = tensor.shape;
    const MatrixView& format = tensor.format;
    if (format.encoding != Encoding::kAffine) {
      specs_.push_back({tensor.name, format.dtype, std::move(shape)});
      return;
    }
    const std::string module = tensor.name.substr(0, tensor.name.rfind(".weight"));
    shape.back() = format.cols * format.bits / 32;
    specs_.push_back({tensor.name, DType::kU32, shape});
    shape.back() = format.cols / format.group;
    specs_.push_back({module + ".scales", format.dtype, shape});
    specs_.push_back({module + ".biases", format.dtype, shape});
  }

  Status create(const fs::path& folder, const SafetensorsWriterOptions& options) {
    LOCKSTEP_ASSIGN_OR_RETURN(writer_, SafetensorsWriter::create(folder, specs_, options));
    return {};
  }

  Status write(size_t number, const PlannedTensor& tensor, int64_t first, const EncodedRows& rows) {
    const size_t place = places_[number];
    const auto row = static_cast<uint64_t>(first);
    LOCKSTEP_RETURN_IF_ERROR(writer_->write(place, row * tensor.format.row_bytes(), rows.data));
    if (rows.scales.empty()) return {};
    const uint64_t offset = row * tensor.format.scale_row_bytes();
    LOCKSTEP_RETURN_IF_ERROR(writer_->write(place + 1, offset, rows.scales));
    return writer_->write(place + 2, offset, rows.biases);
  }

  Status finish() { return writer_->finish(); }
  bool empty() const { return places_.empty(); }
  size_t tensors() const { return places_.size(); }

 private:
  std::vector<size_t> places_;  // of each weight in specs_
  std::vector<TensorSpec> specs_;
  WriterPointer writer_;
};

struct FolderWriter {
  Checkpoint& source;
  const Conversion& plan;
  const ConvertOptions& options;
  Layout layout;
  std::optional<AffineFormat> format;  // MLX

  Status write_weights(const fs::path& folder, ThreadPool& pool) const;
  Status write_configs(const fs::path& folder) const;
  json::object config(bool draft) const;
  bool has_sidecar() const { return layout == Layout::kMlx && source.config.mtp_layers > 0; }
};

Status FolderWriter::write_weights(const fs::path& folder, ThreadPool& pool) const {
  FileSet trunk, sidecar;
  std::vector<std::pair<FileSet*, size_t>> places;
  for (const PlannedTensor& tensor : plan.tensors) {
    FileSet& set = has_sidecar() && tensor.draft() ? sidecar : trunk;
    places.emplace_back(&set, set.tensors());
    set.add(tensor);
  }
  SafetensorsWriterOptions files;
  files.shard_bytes = options.shard_bytes;
  files.metadata = {{"format", layout == Layout::kMlx ? "mlx" : "pt"}};
  LOCKSTEP_RETURN_IF_ERROR(trunk.create(folder, files));
  if (!sidecar.empty()) {
    std::error_code code;
    fs::create_directory(folder / "mtp", code);
    if (code) return io_error(folder / "mtp", code.message());
    LOCKSTEP_RETURN_IF_ERROR(sidecar.create(folder / "mtp", files));
  }
  const RowSink sink = [&](size_t index, int64_t first, const EncodedRows& rows) {
    return places[index].first->write(places[index].second, plan.tensors[index], first, rows);
  };
  LOCKSTEP_RETURN_IF_ERROR(write_rows(plan, pool, options.writing, sink));
  LOCKSTEP_RETURN_IF_ERROR(trunk.finish());
  return sidecar.empty() ? Status() : sidecar.finish();
}

json::object FolderWriter::config(bool draft) const {
  ModelConfig model = source.config;
  model.tie_word_embeddings = source.head_module != kHeadModule;
  json::object root = model_config_json(model, DType::kBF16);
  if (draft) set_draft_head_type(root);
  if (!format) return root;
  json::object scheme = {{"group_size", format->group}, {"bits", format->bits}, {"mode", "affine"}};
  for (const PlannedTensor& tensor : plan.tensors) {
    const MatrixView& stored = tensor.format;
    if (stored.encoding != Encoding::kAffine || tensor.draft() != draft) continue;
    if (stored.bits == format->bits && stored.group == format->group) continue;
    scheme[tensor.name.substr(0, tensor.name.rfind(".weight"))] =
        json::object{{"group_size", stored.group}, {"bits", stored.bits}};
  }
  root["quantization_config"] = scheme;
  root["quantization"] = std::move(scheme);
  return root;
}

Status FolderWriter::write_configs(const fs::path& folder) const {
  if (has_sidecar()) {
    LOCKSTEP_RETURN_IF_ERROR(
        write_text_file(folder / "mtp" / "config.json", dump_json(config(true), 1), true));
  }
  return write_text_file(folder / "config.json", dump_json(config(false), 1), true);
}

Result<ConvertReport> write_folder(const FolderWriter& writer, std::span<const TextFile> files,
                                   const fs::path& path) {
  LOCKSTEP_RETURN_IF_ERROR(check_no_unknown_tensors(writer.source));
  LOCKSTEP_ASSIGN_OR_RETURN(PartialFolder folder, PartialFolder::create(path));
  ThreadPool alone(1);
  ThreadPool& pool = writer.options.pool != nullptr ? *writer.options.pool : alone;
  LOCKSTEP_RETURN_IF_ERROR(writer.write_weights(folder.partial(), pool));
  for (const TextFile& file : files) {
    LOCKSTEP_RETURN_IF_ERROR(write_text_file(folder.partial() / file.name, file.text, true));
  }
  LOCKSTEP_RETURN_IF_ERROR(writer.write_configs(folder.partial()));
  LOCKSTEP_ASSIGN_OR_RETURN(const ConversionError error, read_back(writer.plan, folder.partial(),
                                                                   pool, writer.options.checking));
  LOCKSTEP_RETURN_IF_ERROR(check_files(writer.source));
  LOCKSTEP_RETURN_IF_ERROR(folder.publish());
  return ConvertReport{path, static_cast<int64_t>(writer.plan.tensors.size()), writer.plan.bytes(),
                       error};
}

}  // namespace

Result<ConvertReport> convert_to_mlx(Checkpoint& source, const AffineFormat& format,
                                     std::span<const TextFile> files, const fs::path& path,
                                     const ConvertOptions& options) {
  if (!is_valid(format)) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("no affine encoding has {} bits and groups of {}; bits are 2, 3, 4, "
                             "5, 6 or 8, groups 32, 64 or 128",
                             format.bits, format.group)};
  }
  LOCKSTEP_ASSIGN_OR_RETURN(const Conversion plan, plan_mlx(source, format));
  return write_folder({source, plan, options, Layout::kMlx, format}, files, path);
}

Result<ConvertReport> convert_to_hugging_face(Checkpoint& source, std::span<const TextFile> files,
                                              const fs::path& path, const ConvertOptions& options) {
  LOCKSTEP_ASSIGN_OR_RETURN(const Conversion plan, plan_hugging_face(source));
  return write_folder({source, plan, options, Layout::kHuggingFace, std::nullopt}, files, path);
}

}  // namespace lockstep
