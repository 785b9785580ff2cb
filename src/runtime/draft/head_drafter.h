// Drafts of the checkpoint's own head (MTP), chained: one pass of the head for each place of the
// windows, all replies in it together.
//
// The head keeps keys and values of its own. Its row p is made of the trunk's hidden row p and the
// token after it, so it follows the trunk, prompt included; rows that were chained from the head's
// own output are cut off again (docs/numerics.md, rule 22). None of this can change a token.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"
#include "model/draft_context.h"
#include "model/forward_pass.h"
#include "model/page_pool.h"
#include "model/sequence_state.h"
#include "sampling/sampler.h"

namespace lockstep {

// What the head keeps for one reply: a DraftContext (model/draft_context.h) that grows.
struct HeadState {
  std::unique_ptr<SequenceState>
      state;                  // rows of the positions before `first`, as far back as known
  std::vector<float> hidden;  // [rows, H] the trunk's, from position `first` on: not read yet
  int64_t first = 0;
};

class HeadDrafter {
 public:
  // Ids that are scored, and so drafted: tokenizers give the common ones the low ids, and the
  // product with all of a large vocabulary would cost several times the rest of the head.
  static constexpr int64_t kScoredIds = 65536;

  // `pages`: of keys and values of the head (Model::draft_state_shape).
  HeadDrafter(ForwardPass& pass, std::shared_ptr<PagePool> pages);

  // The trunk has run rows from `position` on: their hidden rows [rows, H]. A gap to what is kept
  // makes the head begin anew.
  void follow(HeadState& head, int64_t position, std::span<const float> hidden);
  // The reply has lost its place or is over.
  void forget(HeadState& head);

  // What is kept of the positions before `position`, to begin there again; null if the head has
  // read beyond it.
  std::shared_ptr<const DraftContext> snapshot(const HeadState& head, int64_t position) const;
  void restore(HeadState& head, const DraftContext& context);

  // Rows of `head` that the next draft, or catch_up, has to read first.
  int64_t behind(const HeadState& head) const;

  struct Ask {
    HeadState* head = nullptr;
    std::span<const int32_t> ids;      // prompt and reply; the head may have read all but the last
    const Sampler* sampler = nullptr;  // the reply's: drafts are drawn as tokens are
    int64_t depth = 0;                 // drafts; 0: only read what is behind
    std::vector<int32_t>* drafts = nullptr;
  };
  // Reads what is behind and drafts. A draft that cannot be drawn ends its chain. Errors: of the
  // pass; what was asked then has no drafts, and the heads begin anew.
  Status draft(std::span<const Ask> asks);

 private:
  // An Ask on its way through the steps.
  struct Chain {
    const Ask* ask = nullptr;
    Sampler sampler;
    int64_t committed = 0;  // rows of the head's state that stay
    bool ended = false;
  };

  Status read_behind(std::span<const Ask> asks);
  Status run_batch(std::span<const BatchSegment> segments, std::span<Chain* const> logits_of);
  Status chain(int64_t step);
  void draw(std::span<const float> logits, Chain& chain);
  std::unique_ptr<SequenceState> take_state();

  ForwardPass& pass_;
  std::shared_ptr<PagePool> pages_;
  const int64_t hidden_size_;
  const size_t vocab_;
  std::vector<std::unique_ptr<SequenceState>> free_;
  SamplerScratch scratch_;
  // Of one call.
  std::vector<Chain> chains_;      // of the asks that want drafts
  std::vector<float> chain_rows_;  // [chains_, H] the head's last hidden row of each
  std::vector<float> hidden_;      // of one batch
  std::vector<int32_t> ids_;
  std::vector<int64_t> logit_rows_;
};

}  // namespace lockstep
