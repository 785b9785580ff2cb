// libFuzzer target: the GGUF container, the configuration and the tokenizer's lists. Whatever is
// accepted must lie inside the file.
#include <cstdint>
#include <span>

#include "base/check.h"
#include "checkpoint/gguf/config.h"
#include "checkpoint/gguf/container.h"
#include "checkpoint/gguf/names.h"
#include "checkpoint/gguf/text.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::span<const std::byte> file(reinterpret_cast<const std::byte*>(data), size);
  const auto parsed = lockstep::parse_gguf(file, "fuzz");
  if (!parsed.ok()) return 0;
  size_t end = 0;
  for (const lockstep::GgufTensor& tensor : parsed.value().tensors) {
    LOCKSTEP_CHECK(tensor.begin <= size && tensor.bytes <= size - tensor.begin,
                   "a tensor lies outside its file");
    LOCKSTEP_CHECK(tensor.begin >= end, "two tensors overlap");
    end = tensor.begin + tensor.bytes;
    LOCKSTEP_CHECK(!lockstep::canonical_gguf_name(tensor.name, 4).empty(), "a name is lost");
  }
  const lockstep::GgufMetadata& metadata = parsed.value().metadata;
  const auto config = lockstep::read_gguf_config(metadata);
  if (config.ok()) {
    LOCKSTEP_CHECK(!config.value().layers.empty() && config.value().delta.value_dim > 0,
                   "an accepted configuration has no shape");
  }
  static_cast<void>(lockstep::read_gguf_generation(metadata));
  const auto text = lockstep::read_gguf_text(metadata);
  if (text.ok()) {
    const auto* begin = reinterpret_cast<const char*>(data);
    for (const std::string_view token : text.value().tokens) {
      LOCKSTEP_CHECK(token.data() >= begin && token.data() + token.size() <= begin + size,
                     "a token lies outside its file");
    }
  }
  return 0;
}
