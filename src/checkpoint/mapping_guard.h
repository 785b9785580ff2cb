// What happens when a mapped file changes under its mapping. Where it got shorter, the system sends
// SIGBUS to whoever touches a page that is gone; here such pages read as zeros, and the mapping is
// marked.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "base/result.h"

namespace lockstep {

// Watches a mapping of the open file `descriptor`, which is duplicated; at most 4096 at once. The
// first one installs the handler, which hands every other SIGBUS on to what was there before.
Status watch_mapping(std::span<const std::byte> mapping, int descriptor, const std::string& path);
// Before the mapping goes. Nothing where it is not watched.
void forget_mapping(std::span<const std::byte> mapping);

// An error once the file is shorter, longer or of another time than when watching began, or a page
// of it could not be read. Bytes that are gone read as zeros. One system call.
Status check_mapping(std::span<const std::byte> mapping, const std::string& path);

}  // namespace lockstep
