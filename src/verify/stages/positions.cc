#include "verify/stages/positions.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <set>

namespace lockstep::verify {
namespace {

std::optional<int64_t> parse_one(std::string_view text, int64_t count) {
  if (text == "last") return count - 1;
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && end == text.data() + text.size() && value >= 0;
  return whole ? std::optional(value) : std::nullopt;
}

}  // namespace

Result<std::vector<int32_t>> parse_positions(std::string_view text, int64_t count) {
  if (text == "all") text = "0-last";
  std::set<int32_t> positions;
  while (true) {
    const size_t comma = std::min(text.find(','), text.size());
    const std::string_view item = text.substr(0, comma);
    const size_t dash = item.find('-');
    const auto first = parse_one(item.substr(0, dash), count);
    const auto last =
        dash == std::string_view::npos ? first : parse_one(item.substr(dash + 1), count);
    if (!first || !last || *first > *last) {
      return Error{
          ErrorCode::kInvalidArgument,
          fmt::format("\"{}\" is no position and no range; all, 5, 10-20 and last are", item)};
    }
    if (*last >= count) {
      return Error{
          ErrorCode::kInvalidArgument,
          fmt::format("position {} is not in the sequence, which has {} ids", *last, count)};
    }
    for (int64_t p = *first; p <= *last; ++p) positions.insert(static_cast<int32_t>(p));
    if (comma == text.size()) break;
    text.remove_prefix(comma + 1);
  }
  return std::vector<int32_t>(positions.begin(), positions.end());
}

}  // namespace lockstep::verify
