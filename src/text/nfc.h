// Unicode normalisation form C, as the reference tokenizer knows it (see make_unicode_tables.py).
#pragma once

#include <string>
#include <string_view>

namespace lockstep {

// NFC of valid UTF-8. Returns `text` itself where nothing changes, otherwise a view of `storage`,
// which it fills. Time is linear but for the sort of a run of combining marks.
std::string_view normalize_nfc(std::string_view text, std::string& storage);

}  // namespace lockstep
