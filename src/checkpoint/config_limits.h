// What sizes a configuration may state: ten times beyond every release, and small enough that no
// product of sizes in bytes, summed over all layers, leaves int64: 2^12 experts * 2 * 2^17 * 2^17 *
// 8 bytes * 2^10 layers = 2^60.
#pragma once

#include "checkpoint/json_fields.h"

namespace lockstep {

inline constexpr IntegerRange kVocabRange{1, int64_t{1} << 24};
inline constexpr IntegerRange kWidthRange{1, int64_t{1} << 17};
inline constexpr IntegerRange kLayerRange{1, 1024};
inline constexpr IntegerRange kHeadRange{1, 1024};
inline constexpr IntegerRange kHeadDimRange{2, 1024};
inline constexpr IntegerRange kExpertRange{1, 4096};
inline constexpr IntegerRange kPositionRange{1, int64_t{1} << 27};

}  // namespace lockstep
