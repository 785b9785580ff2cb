#include "verify/exact/exact.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "verify/exact/replies.h"
#include "verify/exact/state_parts.h"

namespace lockstep::verify {
namespace {

class Checker {
 public:
  Checker(const Model& model, int64_t rows, const CaseOptions& options)
      : model_(model),
        rows_(rows),
        reference_(model, options.threads, options.isas.front(), rows) {}

  // Plays a case; the clause says how many rows were compared or where the first difference is.
  Result<Clause> decide(const Case& each) {
    LOCKSTEP_ASSIGN_OR_RETURN(const std::vector<Stream> streams, read_streams(each.streams));
    Player player(model_, each.threads, each.isa, rows_);
    LOCKSTEP_ASSIGN_OR_RETURN(const Played played, player.play(each.schedule, streams));
    Clause clause{.name = each.schedule.name,
                  .verdict = played.difference ? Verdict::kFail : Verdict::kPass,
                  .figure = fmt::format("{} rows", played.rows),
                  .detail = {}};
    if (played.difference) {
      LOCKSTEP_ASSIGN_OR_RETURN(clause.detail, explain(each, streams, player, *played.difference));
    }
    return clause;
  }

 private:
  // What each gives alone; streams come again from case to case.
  Result<std::vector<Stream>> read_streams(const std::vector<Prompt>& prompts) {
    std::vector<Stream> streams;
    for (const Prompt& ids : prompts) {
      auto [known, is_new] = known_.try_emplace(ids, Stream{.ids = ids});
      if (is_new) LOCKSTEP_RETURN_IF_ERROR(reference_.read_alone(known->second));
      streams.push_back(known->second);
    }
    return streams;
  }

  // Runs both ways again and looks into them.
  Result<std::string> explain(const Case& each, const std::vector<Stream>& streams, Player& player,
                              const Difference& difference) {
    const Stream& stream = streams[difference.stream];
    const auto length = static_cast<int64_t>(stream.ids.size());
    const Schedule alone = chunked({&length, 1}, length);
    std::optional<Watch> watch_got, watch_want;
    if (difference.position) {
      watch_got = Watch{difference.stream, *difference.position};
      watch_want = Watch{0, *difference.position};
    }
    LOCKSTEP_ASSIGN_OR_RETURN(const Played got, player.play(each.schedule, streams, watch_got));
    LOCKSTEP_ASSIGN_OR_RETURN(const Played want, reference_.play(alone, {&stream, 1}, watch_want));
    std::string where = difference.position
                            ? first_difference(got.watched, want.watched)
                            : first_difference(player.sequence(difference.stream),
                                               reference_.sequence(0), model_.config().layers);
    if (where.empty()) where = "gone when both were run again, so it depends on time";
    const std::string row =
        difference.position ? fmt::format(", position {}", *difference.position) : std::string();
    return fmt::format("stream {}{}: {}\n{}", difference.stream, row, difference.text, where);
  }

  const Model& model_;
  int64_t rows_;
  Player reference_;
  std::map<Prompt, Stream> known_;
};

}  // namespace

int64_t exact_rows(const std::vector<Prompt>& prompts, const CaseOptions& options) {
  int64_t rows = 1;
  for (const Case& each : exact_cases(prompts, options)) {
    rows = std::max(rows, widest_round(each.schedule));
    for (const Prompt& ids : each.streams) rows = std::max(rows, static_cast<int64_t>(ids.size()));
  }
  return rows;
}

Result<BitHash> logits_hash(const Model& model, const std::vector<Prompt>& prompts,
                            const CaseOptions& options) {
  size_t rows = 1;
  for (const Prompt& ids : prompts) rows = std::max(rows, ids.size());
  Player player(model, options.threads, options.isas.front(), static_cast<int64_t>(rows));
  std::vector<BitHash> hashes;
  for (const Prompt& ids : prompts) {
    Stream stream{.ids = ids};
    LOCKSTEP_RETURN_IF_ERROR(player.read_alone(stream));
    hashes.insert(hashes.end(), stream.logits.begin(), stream.logits.end());
  }
  return hash_bits(hashes);
}

Status check_exact(const Model& model, const std::vector<Prompt>& prompts,
                   const ExactOptions& options, Report& report) {
  const std::vector<Case> cases = exact_cases(prompts, options.cases);
  const std::vector<ReplyCase> replies = reply_cases(options.cases);
  const size_t total = cases.size() + replies.size();
  size_t done = 0;
  const auto go_on = [&]() -> Status {
    if (!options.progress || options.progress(done++, total)) return {};
    return Error{ErrorCode::kInvalidArgument, "cancelled"};
  };
  Checker checker(model, exact_rows(prompts, options.cases), options.cases);
  for (const Case& each : cases) {
    LOCKSTEP_RETURN_IF_ERROR(go_on());
    LOCKSTEP_ASSIGN_OR_RETURN(Clause clause, checker.decide(each));
    report.add(std::move(clause));
  }
  ReplyChecker reply_checker(model, prompts, options.cases);
  for (const ReplyCase& each : replies) {
    LOCKSTEP_RETURN_IF_ERROR(go_on());
    LOCKSTEP_ASSIGN_OR_RETURN(Clause clause, reply_checker.decide(each));
    report.add(std::move(clause));
  }
  return go_on();
}

}  // namespace lockstep::verify
