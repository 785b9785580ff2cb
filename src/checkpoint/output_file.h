// A file that appears under its name only when it is whole: written as NAME.partial, then renamed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace lockstep {

class OutputFile {
 public:
  // Creates PATH.partial and reserves `bytes` of disk for it, so that a full disk is an error here
  // and not at the last byte. A PATH or a PATH.partial that exists is refused.
  static Result<OutputFile> create(const std::filesystem::path& path, uint64_t bytes);

  // An unpublished file is removed.
  ~OutputFile();
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;

  // Writes at a byte offset, from any thread.
  Status write(uint64_t offset, std::span<const std::byte> bytes) const;

  // Where the bytes lie until then, for reading them back.
  std::string partial_path() const { return path_ + ".partial"; }

  // Gives the file its name. `durable` waits until the contents have reached the disk.
  Status publish(bool durable);

 private:
  OutputFile(std::string path, int descriptor) : path_(std::move(path)), descriptor_(descriptor) {}

  std::string path_;
  int descriptor_ = -1;  // -1 once published or moved from
};

// The same for a text that is at hand.
Status write_text_file(const std::filesystem::path& path, std::string_view text, bool durable);

}  // namespace lockstep
