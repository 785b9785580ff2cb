// Ways to cut sequences of tokens into rounds, as data: what the promise says must not show.
//
// A schedule plays several streams, each a sequence of tokens with a state of its own. Its steps
// run one after another; a stream's rows always stand at the positions after its committed tokens.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace lockstep::verify {

// Rows of one stream in a round.
struct Part {
  size_t stream = 0;
  int64_t rows = 0;
  // The first `right` rows carry the stream's own tokens, the rest other ones: a draft window. Only
  // they are committed.
  int64_t right = 0;
  bool commit = true;  // false: the round is given up, as a cancelled request's is
  // After so many rows the state is kept on the way, for a Fork in the middle.
  std::optional<int64_t> mark = std::nullopt;
};

// One forward pass; each stream at most once.
struct Round {
  std::vector<Part> parts;
};

// Stream `to` becomes a snapshot of stream `from`; their tokens are the same so far.
struct Fork {
  size_t from = 0;
  size_t to = 0;
  bool at_mark = false;  // as `from` was at the mark of its last part
};

struct Schedule {
  std::string name;  // of its clause
  std::vector<std::variant<Round, Fork>> steps;
  // A stream in whose residual stream NaN stands in every row: each of its rows must be reported as
  // a fault, and no other stream may notice.
  std::optional<size_t> poisoned;
};

// The lengths of streams, in tokens.
using Lengths = std::span<const int64_t>;

// Every stream on its own, `chunk` rows a round.
Schedule chunked(Lengths lengths, int64_t chunk);

// All streams together, the i-th from round 2i on. A seeded choice gives each one row, several, or
// none in a round.
Schedule mixed(Lengths lengths, uint32_t seed);

// Stream 0 replies row by row beside the chunks in which stream 1 reads, first before it and then
// after it in the round, in turn.
Schedule reply_beside_prompt(Lengths lengths, int64_t chunk);

// Stream 0 reads `prefix` tokens; three forks of it go on to their ends in draft windows of
// `window` rows: in stream 1 every draft is right, in stream 2 every draft is wrong, stream 3 mixes
// them. The first row of a window is no draft.
Schedule windows(Lengths lengths, int64_t prefix, int64_t window);

// Stream 0 reads `split` tokens and stream 1 resumes from its snapshot for three rows; stream 0
// goes its own way to its end, then stream 1 to its own.
Schedule resumed(Lengths lengths, int64_t split);

// Stream 0 reads all of its tokens in one round; stream 1 resumes from its state in the middle,
// after `split` of them.
Schedule resumed_inside(Lengths lengths, int64_t split);

// Stream 0, with rounds between that are given up, of its own tokens and of others.
Schedule cancelled(Lengths lengths);

// The most rows of a round.
int64_t widest_round(const Schedule& schedule);

}  // namespace lockstep::verify
