// What a request's reply is when nothing else runs: one sequence, no rounds, no scheduler. The
// engine is held to it bit by bit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/forward_pass.h"
#include "runtime/reply.h"
#include "runtime/request.h"

namespace lockstep::testing {

struct SoloRun {
  std::vector<PromptToken> prompt;
  std::vector<ReplyToken> tokens;
  FinishReason finish = FinishReason::kLength;
  std::optional<int32_t> stop_id;
  std::vector<std::byte> fingerprint;  // of the state it leaves
};

// Reads the prompt in chunks of `chunk` rows. The request's seed is set; `context` as the engine's.
SoloRun solo_run(ForwardPass& pass, const Request& request, int64_t reply, int64_t context,
                 int64_t chunk);

// Where two runs differ first; empty if nowhere. The second may have ended early: then it is held
// to its own length.
std::string first_difference(const SoloRun& want, const Reply& got);

}  // namespace lockstep::testing
