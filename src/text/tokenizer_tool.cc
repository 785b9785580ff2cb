// For developers: runs the tokenizer over standard input, for python/check_tokenizer.py, or times
// it.
//
//   tokenizer_tool encode TOKENIZER.json
//     reads texts, each after its length in 32 bits, and writes the ids of each after their number
//   tokenizer_tool bench TOKENIZER.json [TEXT...]
//     prints MB/s of processor time on texts that are hard to tokenise, and on these files
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "text/tokenizer.h"

namespace lockstep {
namespace {

int fail(const Error& error) {
  fmt::print(stderr, "{}\n", error.message);
  return 1;
}

int encode(const Tokenizer& tokenizer) {
  uint32_t length = 0;
  std::string text;
  while (std::cin.read(reinterpret_cast<char*>(&length), sizeof(length))) {
    text.resize(length);
    if (!std::cin.read(text.data(), length)) break;
    const Result<std::vector<int32_t>> ids = tokenizer.encode(text);
    if (!ids.ok()) return fail(ids.error());
    const auto count = static_cast<uint32_t>(ids.value().size());
    std::cout.write(reinterpret_cast<const char*>(&count), sizeof(count));
    std::cout.write(reinterpret_cast<const char*>(ids.value().data()),
                    static_cast<std::streamsize>(count * sizeof(int32_t)));
  }
  return 0;
}

// Processor time, which other programs on the machine do not add to.
double seconds_since(std::clock_t start) {
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

// The better of three runs.
void time_text(const Tokenizer& tokenizer, std::string_view name, std::string_view text) {
  double best = 1e9;
  size_t ids = 0;
  for (int run = 0; run < 3; ++run) {
    const std::clock_t start = std::clock();
    const Result<std::vector<int32_t>> result = tokenizer.encode(text);
    best = std::min(best, seconds_since(start));
    ids = result.ok() ? result.value().size() : 0;
  }
  fmt::print("{:>24} {:9} bytes {:9} ids {:8.1f} MB/s\n", name, text.size(), ids,
             static_cast<double>(text.size()) / best / 1e6);
}

std::string repeat(std::string_view part, size_t bytes) {
  std::string text;
  while (text.size() < bytes) text += part;
  return text;
}

int bench(const char* path, int files, char** names) {
  const std::clock_t start = std::clock();
  const Result<Tokenizer> tokenizer = load_tokenizer(path);
  if (!tokenizer.ok()) return fail(tokenizer.error());
  fmt::print("{:>24} {:.3f} s\n", "load", seconds_since(start));
  constexpr size_t kMegabyte = 1000000;
  for (const auto& [name, part] : std::initializer_list<std::pair<const char*, std::string_view>>{
           {"one letter", "a"},
           {"spaces", " "},
           {"newlines", "\n"},
           {"apostrophes", "'"},
           {"digits", "7"},
           {"<", "<"},
           {"combining marks", "\u0301\u0323"},
           {"no-break spaces", "\u00A0"},
           {"CJK", "\u4E2D\u6587\u5B57\u7B26\u6BB5\u843D"},
           {"letters", "abcdefghijklmnopqrstuvwxyz"},
           {"broken bytes", "\xFF"}}) {
    time_text(tokenizer.value(), name, repeat(part, kMegabyte));
  }
  for (int i = 0; i < files; ++i) {
    std::ifstream file(names[i], std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    time_text(tokenizer.value(), names[i], text);
  }
  return 0;
}

int run(int argc, char** argv) {
  const std::string_view mode = argc > 2 ? argv[1] : "";
  if (mode == "bench") return bench(argv[2], argc - 3, argv + 3);
  if (mode != "encode") {
    fmt::print(stderr, "usage: tokenizer_tool encode|bench TOKENIZER.json [TEXT...]\n");
    return 2;
  }
  const Result<Tokenizer> tokenizer = load_tokenizer(argv[2]);
  return tokenizer.ok() ? encode(tokenizer.value()) : fail(tokenizer.error());
}

}  // namespace
}  // namespace lockstep

int main(int argc, char** argv) { return lockstep::run(argc, argv); }
