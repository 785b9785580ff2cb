// The family's pre-tokeniser: cuts text into words that byte pairs are merged within.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace lockstep {

// The pattern that split_words implements, as tokenizer.json spells it (specification 6.1).
inline constexpr std::string_view kFamilyPattern =
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?[\\p{L}\\p{M}]+|\\p{N}|"
    " ?[^\\s\\p{L}\\p{M}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";

// Appends the end offset of every word of `text`, valid UTF-8, in order; the words cover it whole.
// Linear in the length of the text.
void split_words(std::string_view text, std::vector<size_t>& ends);

}  // namespace lockstep
