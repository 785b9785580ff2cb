// The printable alphabet in which byte-level vocabularies are written: one character for each byte.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace lockstep {

// The bytes that `piece`, valid UTF-8, stands for; nothing if a character is not of the alphabet.
std::optional<std::string> bytes_of_piece(std::string_view piece);

}  // namespace lockstep
