// Writes the files that fuzzing begins with (tests/fuzz/prompt_cache): whole ones, which mutations
// then break.   prompt_cache_seeds FOLDER
#include <fcntl.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "runtime/prompt_cache/cache_file.h"
#include "runtime/prompt_cache/fake_model_test.h"
#include "runtime/prompt_cache/file_descriptor.h"

namespace lockstep {
namespace {

// The first byte says what the fuzz target does with the rest.
void write_input(const std::filesystem::path& path, char mode, std::string_view rest) {
  std::ofstream(path, std::ios::binary) << mode << rest;
}

std::string text_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

int write_seeds(const std::filesystem::path& folder) {
  const std::filesystem::path whole = folder / "whole";
  for (const size_t length : {1u, 2u, 65u}) {
    const CacheFileHead head{"key", "salt", SaveKind::kReplyEnd, std::vector<int32_t>(length, 7)};
    const SequenceState state = state_after(head.ids);
    const FileDescriptor file(open(whole.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600));
    if (!write_cache_file(file.get(), head, state).ok()) return 1;
    const std::string text = text_of(whole);
    write_input(folder / ("file-" + std::to_string(length)), '\1', text);
    write_input(folder / ("hashed-" + std::to_string(length)), '\2', text);
    const std::vector<std::byte> bytes = bytes_of(state);
    write_input(folder / ("state-" + std::to_string(length)), '\3',
                {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }
  std::filesystem::remove(whole);
  return 0;
}

}  // namespace
}  // namespace lockstep

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: prompt_cache_seeds FOLDER\n", stderr);
    return 2;
  }
  return lockstep::write_seeds(argv[1]);
}
