// One reply in the making, as the engine's thread keeps it.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "model/sequence_state.h"
#include "model/window_trace.h"
#include "runtime/draft/stream_drafts.h"
#include "runtime/mailbox.h"
#include "runtime/request.h"
#include "sampling/sampler.h"

namespace lockstep {

using Clock = std::chrono::steady_clock;

// What the replies to one request share.
struct RequestGroup {
  Request request;
  std::shared_ptr<Mailbox> mailbox;
  int64_t limit = 0;  // tokens of a reply
  Clock::time_point submitted;

  // One stream reads the prompt; the others start from the state before its last token, which gives
  // each the logits of its first.
  bool being_read = false;
  int64_t unstarted = 0;              // replies that have not had a place yet
  std::optional<SequenceState> fork;  // kept until all have started

  int64_t prompt_size() const { return static_cast<int64_t>(request.prompt.size()); }
  int64_t fork_position() const { return prompt_size() - 1; }
  bool is_cancelled() const;
};

struct Stream {
  Stream(std::shared_ptr<RequestGroup> its_group, int64_t its_reply, uint64_t its_arrival,
         Sampler its_sampler);

  // Rows that have not been run. A reply runs its last token, a prompt what is left of it, and a
  // stream that lost its place all of its tokens: nothing tells the three apart.
  int64_t pending() const { return size() - state->position(); }
  int64_t size() const { return static_cast<int64_t>(ids.size()); }
  int64_t drawn() const { return size() - group->prompt_size(); }
  // Tokens that may still come.
  int64_t left() const { return group->limit - drawn(); }
  bool is_reading() const { return drawn() == 0 || pending() > 1; }
  bool is_started() const { return started; }
  // Rows of the prompt whose log-probabilities are wanted and have not been told: [first, last).
  int64_t first_unscored() const { return std::max(state->position(), scored); }
  int64_t last_unscored() const {
    return group->request.prompt_logprobs && reply == 0 ? group->fork_position() : 0;
  }

  void put(ReplyEvent event) const { group->mailbox->put(std::move(event)); }
  // Sets `end`, after which the stream takes part in nothing.
  void finish(FinishReason reason, std::optional<int32_t> stop_id = std::nullopt);
  void fail(Error error);

  std::shared_ptr<RequestGroup> group;
  int64_t reply;
  uint64_t arrival;  // counts up over all streams of the engine
  Sampler sampler;
  std::vector<int32_t> ids;              // of the prompt and of the reply so far
  std::unique_ptr<SequenceState> state;  // null while it waits for a place
  std::unique_ptr<WindowTrace> window;   // null until it has drafts
  StreamDrafts drafts;
  std::vector<SavePoint> saves;  // ascending, of states that are to be kept
  bool started = false;          // has had a place
  int64_t scored = 0;            // first rows of the prompt that were told
  bool reads_for_group = false;
  int64_t overtaken = 0;
  uint64_t last_served = 0;
  std::optional<ReplyEnd> end;

  ReplyTimings timings;
  Clock::time_point entered;
  Clock::time_point first_token;
};

}  // namespace lockstep
