#include "text/nfc.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "text/code_point_map.h"
#include "text/unicode_tables.h"
#include "text/utf8.h"

namespace lockstep {
namespace {

// Hangul syllables compose by arithmetic (The Unicode Standard, section 3.12).
constexpr uint32_t kSyllableBase = 0xAC00, kLeadBase = 0x1100, kVowelBase = 0x1161;
constexpr uint32_t kTrailBase = 0x11A7;  // one before the first trailing consonant
constexpr uint32_t kLeads = 19, kVowels = 21, kTrails = 28;
constexpr uint32_t kSyllables = kLeads * kVowels * kTrails;

enum Trait : uint8_t {
  kUnstable = 1,    // a mark, or something that NFC may change or join to what stands before it
  kDecomposes = 2,  // has a row in the table of decompositions
};

struct Composition {
  uint32_t first;
  uint32_t second;
  uint32_t composed;
};

bool pair_less(const Composition& a, const Composition& b) {
  return a.first != b.first ? a.first < b.first : a.second < b.second;
}

struct Tables {
  CodePointMap traits;
  CodePointMap combining;
  std::vector<Composition> compositions;  // sorted by pair
};

Tables build_tables() {
  std::vector<uint8_t> traits(kMaxCodePoint + 1);
  std::vector<uint8_t> combining(kMaxCodePoint + 1);
  std::vector<Composition> compositions;
  for (const CombiningRange& range : combining_ranges()) {
    for (uint32_t at = range.first; at <= range.last; ++at) {
      combining[at] = range.combining_class;
      traits[at] |= kUnstable;
    }
  }
  for (const Decomposition& row : canonical_decompositions()) {
    traits[row.code_point] |= kDecomposes;
    if (row.composes) {
      compositions.push_back({row.first, row.second, row.code_point});
      traits[row.second] |= kUnstable;
    } else {
      traits[row.code_point] |= kUnstable;
    }
  }
  for (uint32_t i = 0; i < kVowels; ++i) traits[kVowelBase + i] |= kUnstable;
  for (uint32_t i = 1; i < kTrails; ++i) traits[kTrailBase + i] |= kUnstable;
  std::sort(compositions.begin(), compositions.end(), pair_less);
  return {CodePointMap(traits), CodePointMap(combining), std::move(compositions)};
}

const Tables& tables() {
  static const Tables built = build_tables();
  return built;
}

struct Mark {
  uint32_t code_point;
  uint8_t combining_class;
};

void decompose(const Tables& data, uint32_t code_point, std::vector<Mark>& out) {
  if (code_point - kSyllableBase < kSyllables) {
    const uint32_t index = code_point - kSyllableBase;
    out.push_back({kLeadBase + index / (kVowels * kTrails), 0});
    out.push_back({kVowelBase + index / kTrails % kVowels, 0});
    if (index % kTrails != 0) out.push_back({kTrailBase + index % kTrails, 0});
    return;
  }
  if ((data.traits[code_point] & kDecomposes) == 0) {
    out.push_back({code_point, data.combining[code_point]});
    return;
  }
  const auto rows = canonical_decompositions();
  const auto row =
      std::lower_bound(rows.begin(), rows.end(), code_point,
                       [](const Decomposition& a, uint32_t b) { return a.code_point < b; });
  decompose(data, row->first, out);
  if (row->second != 0) decompose(data, row->second, out);
}

// Sorts each run of marks by class; marks of one class keep their order.
void reorder(std::vector<Mark>& marks) {
  const auto by_class = [](const Mark& a, const Mark& b) {
    return a.combining_class < b.combining_class;
  };
  for (auto at = marks.begin(); at != marks.end();) {
    const auto end =
        std::find_if(at, marks.end(), [](const Mark& m) { return m.combining_class == 0; });
    if (!std::is_sorted(at, end, by_class)) std::stable_sort(at, end, by_class);
    at = end == marks.end() ? end : end + 1;
  }
}

// The code point that a pair composes to, or 0.
uint32_t compose(const Tables& data, uint32_t first, uint32_t second) {
  if (first - kLeadBase < kLeads && second - kVowelBase < kVowels) {
    return kSyllableBase + ((first - kLeadBase) * kVowels + (second - kVowelBase)) * kTrails;
  }
  const uint32_t syllable = first - kSyllableBase;
  if (syllable < kSyllables && syllable % kTrails == 0 && second > kTrailBase &&
      second - kTrailBase < kTrails) {
    return first + (second - kTrailBase);
  }
  const Composition wanted = {first, second, 0};
  const auto found =
      std::lower_bound(data.compositions.begin(), data.compositions.end(), wanted, pair_less);
  const bool match = found != data.compositions.end() && !pair_less(wanted, *found);
  return match ? found->composed : 0;
}

// Joins each mark to the last starter unless one of its own class or higher stands between.
void compose_all(const Tables& data, std::vector<Mark>& marks) {
  size_t kept = 0;
  size_t starter = SIZE_MAX;
  for (const Mark mark : marks) {
    const bool blocked =
        starter == SIZE_MAX ||
        (kept - 1 != starter && marks[kept - 1].combining_class >= mark.combining_class);
    const uint32_t composed =
        blocked ? 0 : compose(data, marks[starter].code_point, mark.code_point);
    if (composed != 0) {
      marks[starter].code_point = composed;
      continue;
    }
    if (mark.combining_class == 0) starter = kept;
    marks[kept++] = mark;
  }
  marks.resize(kept);
}

// End of the part of `text`, from `at`, that NFC leaves as it is and that nothing after can change;
// the character before an unstable one is not part of it.
const char* stable_end(const Tables& data, const char* at, const char* end) {
  const char* boundary = at;
  while (at < end) {
    if (const size_t run = ascii_run({at, static_cast<size_t>(end - at)}, 0)) {
      at += run;
      boundary = at - 1;
      continue;
    }
    const char* character = at;
    if ((data.traits[next_code_point(at)] & kUnstable) != 0) return boundary;
    boundary = character;
  }
  return end;
}

}  // namespace

std::string_view normalize_nfc(std::string_view text, std::string& storage) {
  const Tables& data = tables();
  const char* at = text.data();
  const char* const end = at + text.size();
  const char* stable = stable_end(data, at, end);
  if (stable == end) return text;

  storage.clear();
  storage.reserve(text.size() + text.size() / 8);
  std::vector<Mark> marks;
  while (at != end) {
    storage.append(at, stable);
    at = stable;
    // A segment: its first character, stable or not, and all the unstable ones that follow.
    marks.clear();
    while (at != end) {
      const char* character = at;
      const uint32_t code_point = next_code_point(at);
      if (!marks.empty() && (data.traits[code_point] & kUnstable) == 0) {
        at = character;
        break;
      }
      decompose(data, code_point, marks);
    }
    reorder(marks);
    compose_all(data, marks);
    for (const Mark& mark : marks) append_utf8(mark.code_point, storage);
    stable = stable_end(data, at, end);
  }
  return storage;
}

}  // namespace lockstep
