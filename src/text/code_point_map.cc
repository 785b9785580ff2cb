#include "text/code_point_map.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "text/unicode_tables.h"
#include "text/utf8.h"

namespace lockstep {

CodePointMap::CodePointMap(std::span<const uint8_t> values) {
  std::unordered_map<std::string_view, uint16_t> known;
  for (size_t at = 0; at < values.size(); at += kPageSize) {
    const std::string_view page(reinterpret_cast<const char*>(values.data() + at), kPageSize);
    const auto [entry, added] = known.try_emplace(page, static_cast<uint16_t>(known.size()));
    if (added) values_.insert(values_.end(), page.begin(), page.end());
    pages_.push_back(entry->second);
  }
}

const CodePointMap& code_point_classes() {
  static const CodePointMap map = [] {
    std::vector<uint8_t> values(kMaxCodePoint + 1);
    for (const ClassRange& range : class_ranges()) {
      std::fill(values.begin() + range.first, values.begin() + range.last + 1, range.classes);
    }
    return CodePointMap(values);
  }();
  return map;
}

}  // namespace lockstep
