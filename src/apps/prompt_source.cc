#include "apps/prompt_source.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>

#include "checkpoint/mapped_file.h"
#include "text/utf8.h"

namespace lockstep {
namespace {

constexpr size_t kMaxPromptBytes = size_t{64} << 20;
constexpr std::string_view kSpace = " \t\r\n";

Error bad(std::string message) { return {ErrorCode::kInvalidArgument, std::move(message)}; }

// What stands between the brackets of a list; all of a text without them.
Result<std::string_view> inside_brackets(std::string_view text, std::string_view what) {
  const size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos || text[first] != '[') return text;
  const size_t last = text.find_last_not_of(kSpace);
  if (last == first || text[last] != ']') {
    return bad(fmt::format("{} begins a list with [ and does not end it with ]", what));
  }
  return text.substr(first + 1, last - first - 1);
}

}  // namespace

Status check_prompt_text(std::string_view text, std::string_view what) {
  const auto offset = find_invalid_utf8(text);
  if (!offset) return {};
  return bad(
      fmt::format("{} is not valid UTF-8: the byte 0x{:02x} at offset {} begins no character", what,
                  static_cast<unsigned char>(text[*offset]), *offset));
}

Result<std::string> read_prompt_file(const std::string& path) {
  LOCKSTEP_ASSIGN_OR_RETURN(std::string text, read_text_file(path, kMaxPromptBytes));
  LOCKSTEP_RETURN_IF_ERROR(check_prompt_text(text, path));
  return text;
}

Result<std::string> read_standard_input() {
  std::string text;
  std::array<char, 65536> block;
  while (true) {
    const ssize_t count = read(STDIN_FILENO, block.data(), block.size());
    if (count == 0) break;
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      return Error{ErrorCode::kIo, fmt::format("standard input: {}", std::strerror(errno))};
    }
    text.append(block.data(), static_cast<size_t>(count));
    if (text.size() > kMaxPromptBytes) {
      return bad(fmt::format("standard input has more than {} MiB", kMaxPromptBytes >> 20));
    }
  }
  LOCKSTEP_RETURN_IF_ERROR(check_prompt_text(text, "standard input"));
  return text;
}

Result<std::vector<int32_t>> parse_ids(std::string_view text, std::string_view what) {
  constexpr std::string_view kBetween = " \t\r\n,";
  LOCKSTEP_ASSIGN_OR_RETURN(const std::string_view list, inside_brackets(text, what));
  std::vector<int32_t> ids;
  size_t at = 0;
  while ((at = list.find_first_not_of(kBetween, at)) != std::string_view::npos) {
    const size_t end = std::min(list.find_first_of(kBetween, at), list.size());
    const std::string_view word = list.substr(at, end - at);
    int32_t id = -1;
    const auto parsed = std::from_chars(word.data(), word.data() + word.size(), id);
    if (parsed.ec != std::errc() || parsed.ptr != word.data() + word.size() || id < 0) {
      return bad(
          fmt::format("{}: entry {} at offset {} is not a token id: it must be a number "
                      "from 0 to 2147483647",
                      what, ids.size(), list.data() - text.data() + static_cast<ptrdiff_t>(at)));
    }
    ids.push_back(id);
    at = end;
  }
  if (ids.empty()) return bad(fmt::format("{} holds no token ids", what));
  return ids;
}

Result<std::vector<int32_t>> read_ids_file(const std::string& path) {
  LOCKSTEP_ASSIGN_OR_RETURN(const std::string text, read_text_file(path, kMaxPromptBytes));
  return parse_ids(text, path);
}

}  // namespace lockstep
