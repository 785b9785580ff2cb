#include "checkpoint/safetensors_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <unordered_set>

#include "base/check.h"
#include "base/json.h"
#include "checkpoint/safetensors.h"

namespace lockstep {
namespace {

Error invalid(std::string message) { return {ErrorCode::kInvalidArgument, std::move(message)}; }

Result<uint64_t> byte_count(const TensorSpec& tensor) {
  uint64_t bytes = size_of(tensor.dtype);
  for (const int64_t extent : tensor.shape) {
    if (extent < 0 || __builtin_mul_overflow(bytes, static_cast<uint64_t>(extent), &bytes) ||
        bytes > std::numeric_limits<int64_t>::max()) {
      return invalid(
          fmt::format("tensor {}: no shape is [{}]", tensor.name, fmt::join(tensor.shape, ", ")));
    }
  }
  return bytes;
}

// The order inside a shard: wide elements first, so that each tensor is aligned to its own.
std::vector<size_t> file_order(const std::vector<TensorSpec>& tensors, size_t begin, size_t end) {
  std::vector<size_t> order(end - begin);
  std::iota(order.begin(), order.end(), begin);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return size_of(tensors[a].dtype) > size_of(tensors[b].dtype);
  });
  return order;
}

std::string metadata_text(const std::vector<std::pair<std::string, std::string>>& metadata) {
  std::string text;
  for (const auto& [key, value] : metadata) {
    if (!text.empty()) text += ',';
    text += quote_json(key) + ":" + quote_json(value);
  }
  return "\"__metadata__\":{" + text + "}";
}

// First eight bytes and JSON, padded so that the data begins on a multiple of eight.
Result<std::string> with_length(std::string header, const std::string& file) {
  header.resize((header.size() + 7) / 8 * 8, ' ');
  if (header.size() > kMaxSafetensorsHeader) {
    return invalid(
        fmt::format("{}: a header of {} bytes, more than readers accept ({}); "
                    "use smaller shards",
                    file, header.size(), kMaxSafetensorsHeader));
  }
  std::string text;
  for (int byte = 0; byte < 8; ++byte) text += static_cast<char>(header.size() >> (8 * byte));
  return text + header;
}

}  // namespace

SafetensorsWriter::SafetensorsWriter(std::filesystem::path folder, std::vector<TensorSpec> tensors,
                                     SafetensorsWriterOptions options)
    : folder_(std::move(folder)),
      tensors_(std::move(tensors)),
      options_(std::move(options)),
      placed_(tensors_.size()),
      written_(std::make_unique<std::atomic<uint64_t>[]>(tensors_.size())) {}

Result<std::unique_ptr<SafetensorsWriter>> SafetensorsWriter::create(
    const std::filesystem::path& folder, std::vector<TensorSpec> tensors,
    const SafetensorsWriterOptions& options) {
  std::unique_ptr<SafetensorsWriter> writer(
      new SafetensorsWriter(folder, std::move(tensors), options));
  LOCKSTEP_RETURN_IF_ERROR(writer->place_in_shards());
  return writer;
}

Status SafetensorsWriter::place_in_shards() {
  std::unordered_set<std::string_view> names = {"__metadata__"};
  std::vector<size_t> begins = {0};
  uint64_t shard_bytes = 0;
  for (size_t i = 0; i < tensors_.size(); ++i) {
    if (!is_plain_tensor_name(tensors_[i].name) || !names.insert(tensors_[i].name).second) {
      return invalid(fmt::format("tensor name {} is reserved, given twice or not plain ASCII",
                                 quote_json(tensors_[i].name)));
    }
    LOCKSTEP_ASSIGN_OR_RETURN(placed_[i].bytes, byte_count(tensors_[i]));
    if (__builtin_add_overflow(tensor_bytes_, placed_[i].bytes, &tensor_bytes_)) {
      return invalid("the tensors together have more bytes than a number can hold");
    }
    const uint64_t bytes = placed_[i].bytes;
    const uint64_t limit = options_.shard_bytes;
    if (shard_bytes > 0 && (shard_bytes > limit || bytes > limit - shard_bytes)) {
      begins.push_back(i);
      shard_bytes = 0;
    }
    shard_bytes += bytes;
  }
  const size_t count = begins.size();
  begins.push_back(tensors_.size());
  for (size_t shard = 0; shard < count; ++shard) {
    files_.push_back(
        count == 1 ? fmt::format("{}.safetensors", options_.stem)
                   : fmt::format("{}-{:05}-of-{:05}.safetensors", options_.stem, shard + 1, count));
    LOCKSTEP_RETURN_IF_ERROR(create_shard(shard, begins[shard], begins[shard + 1]));
  }
  return {};
}

Status SafetensorsWriter::create_shard(size_t shard, size_t begin, size_t end) {
  const std::vector<size_t> order = file_order(tensors_, begin, end);
  std::string json = "{" + metadata_text(options_.metadata);
  uint64_t offset = 0;
  for (const size_t i : order) {
    json += fmt::format(",{}:{{\"dtype\":\"{}\",\"shape\":[{}],\"data_offsets\":[{},{}]}}",
                        quote_json(tensors_[i].name), to_string(tensors_[i].dtype),
                        fmt::join(tensors_[i].shape, ","), offset, offset + placed_[i].bytes);
    placed_[i].shard = shard;
    placed_[i].begin = offset;
    offset += placed_[i].bytes;
  }
  LOCKSTEP_ASSIGN_OR_RETURN(const std::string header, with_length(json + "}", files_[shard]));
  for (const size_t i : order) placed_[i].begin += header.size();
  LOCKSTEP_ASSIGN_OR_RETURN(OutputFile file,
                            OutputFile::create(folder_ / files_[shard], header.size() + offset));
  LOCKSTEP_RETURN_IF_ERROR(file.write(0, std::as_bytes(std::span(header))));
  shards_.push_back(std::move(file));
  return {};
}

Status SafetensorsWriter::write(size_t index, uint64_t offset, std::span<const std::byte> bytes) {
  LOCKSTEP_CHECK(index < placed_.size(), "no such tensor");
  const Placed& placed = placed_[index];
  if (offset > placed.bytes || bytes.size() > placed.bytes - offset) {
    return invalid(fmt::format("tensor {}: bytes {} to {} do not lie in its {} bytes",
                               tensors_[index].name, offset, offset + bytes.size(), placed.bytes));
  }
  LOCKSTEP_RETURN_IF_ERROR(shards_[placed.shard].write(placed.begin + offset, bytes));
  written_[index] += bytes.size();
  return {};
}

Status SafetensorsWriter::finish() {
  for (size_t i = 0; i < tensors_.size(); ++i) {
    if (written_[i] != placed_[i].bytes) {
      return invalid(fmt::format("tensor {}: {} bytes were written, it has {}", tensors_[i].name,
                                 written_[i].load(), placed_[i].bytes));
    }
  }
  for (OutputFile& shard : shards_) LOCKSTEP_RETURN_IF_ERROR(shard.publish(options_.durable));
  if (shards_.size() == 1) return {};
  return write_text_file(folder_ / (options_.stem + ".safetensors.index.json"), index_text(),
                         options_.durable);
}

std::string SafetensorsWriter::index_text() const {
  std::vector<size_t> order(tensors_.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return tensors_[a].name < tensors_[b].name; });
  json::object weight_map;
  for (const size_t i : order) weight_map[tensors_[i].name] = files_[placed_[i].shard];
  json::object index;
  index["metadata"] = json::object({{"total_size", tensor_bytes_}});
  index["weight_map"] = std::move(weight_map);
  return dump_json(index, 1);
}

}  // namespace lockstep
