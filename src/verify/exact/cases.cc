#include "verify/exact/cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace lockstep::verify {
namespace {

constexpr int64_t kChunks[] = {1, 2, 3, 7, 16, 63, 64, 65, 128, 255, 256, 257};
constexpr int64_t kQuickChunks[] = {1, 3, 64};
constexpr int64_t kStreams[] = {1, 2, 3, 8, 17};
constexpr int64_t kQuickStreams[] = {3};
constexpr int64_t kSplits[] = {1, 63, 64, 65, 128, 255, 256, 257};
constexpr int64_t kQuickSplits[] = {63, 64};
constexpr int64_t kWindows[] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
constexpr int64_t kQuickWindows[] = {4};
constexpr int64_t kQuickLength = 72;
// Scalar code takes a hundred times as long as vectors do.
constexpr int64_t kScalarLength = 10;

std::vector<int64_t> lengths_of(const std::vector<Prompt>& streams) {
  std::vector<int64_t> lengths;
  for (const Prompt& ids : streams) lengths.push_back(static_cast<int64_t>(ids.size()));
  return lengths;
}

Prompt first(const Prompt& ids, int64_t count) {
  const auto size = std::min(static_cast<int64_t>(ids.size()), count);
  return {ids.begin(), ids.begin() + size};
}

class CaseList {
 public:
  CaseList(const std::vector<Prompt>& prompts, const CaseOptions& options) : options_(options) {
    for (const Prompt& ids : prompts) {
      prompts_.push_back(options.quick ? first(ids, kQuickLength) : ids);
      all_.insert(all_.end(), ids.begin(), ids.end());
    }
    longest_ =
        *std::max_element(prompts_.begin(), prompts_.end(),
                          [](const Prompt& a, const Prompt& b) { return a.size() < b.size(); });
  }

  std::vector<Case> take() {
    add_chunks();
    add_mixed_rounds();
    add_windows();
    add_resumed();
    add_processors();
    return std::move(cases_);
  }

 private:
  int64_t length() const { return static_cast<int64_t>(longest_.size()); }

  std::span<const int64_t> choose(std::span<const int64_t> all, std::span<const int64_t> quick) {
    return options_.quick ? quick : all;
  }

  void add(Schedule schedule, std::vector<Prompt> streams) {
    cases_.push_back({.schedule = std::move(schedule),
                      .streams = std::move(streams),
                      .threads = options_.threads,
                      .isa = options_.isas.front()});
  }

  // Stretches of the prompts' tokens, each of another beginning and length.
  std::vector<Prompt> stretches(size_t count) const {
    std::vector<Prompt> streams(count);
    for (size_t i = 0; i < count; ++i) {
      for (size_t k = 0; k < 18 + 3 * i; ++k) {
        streams[i].push_back(all_[(i * 11 + k) % all_.size()]);
      }
    }
    return streams;
  }

  void add_chunks() {
    const std::vector<int64_t> lengths = lengths_of(prompts_);
    for (const int64_t chunk : choose(kChunks, kQuickChunks)) {
      if (chunk < length()) add(chunked(lengths, chunk), prompts_);
    }
    add(chunked(lengths, length()), prompts_);
    cases_.back().schedule.name = "whole prompts, again";
  }

  void add_mixed_rounds() {
    for (const int64_t count : choose(kStreams, kQuickStreams)) {
      const std::vector<Prompt> streams = stretches(static_cast<size_t>(count));
      add(mixed(lengths_of(streams), static_cast<uint32_t>(count)), streams);
    }
    const std::vector<Prompt> pair = {stretches(8).back(), longest_};
    add(reply_beside_prompt(lengths_of(pair), 63), pair);
    const std::vector<Prompt> streams = stretches(4);
    add(mixed(lengths_of(streams), 99), streams);
    cases_.back().schedule.name = "rows that are not finite beside others";
    cases_.back().schedule.poisoned = 1;
  }

  // From before the end of a page to after it, where there is one.
  void add_windows() {
    const int64_t end = std::min<int64_t>(length(), 72);
    const int64_t prefix = std::max<int64_t>(1, end - 20);
    const Prompt ids = first(longest_, end);
    const std::vector<Prompt> streams = {first(ids, prefix), ids, ids, ids};
    for (const int64_t window : choose(kWindows, kQuickWindows)) {
      add(windows(lengths_of(streams), prefix, window), streams);
    }
    const std::vector<Prompt> one = {ids};
    add(cancelled(lengths_of(one)), one);
  }

  void add_resumed() {
    for (const int64_t split : choose(kSplits, kQuickSplits)) {
      if (split >= length()) continue;
      Prompt aside = first(longest_, split);
      const Prompt other = stretches(3).back();
      aside.insert(aside.end(), other.begin(), other.begin() + 10);
      const std::vector<Prompt> streams = {std::move(aside), first(longest_, split + 40)};
      add(resumed(lengths_of(streams), split), streams);
      add(resumed_inside(lengths_of(streams), split), streams);
    }
  }

  void add_processors() {
    const std::vector<Prompt> streams = stretches(3);
    const std::vector<int64_t> lengths = lengths_of(streams);
    for (const int threads : options_.thread_counts) {
      add(mixed(lengths, 7), streams);
      cases_.back().schedule.name = fmt::format("{} thread{}", threads, threads == 1 ? "" : "s");
      cases_.back().threads = threads;
    }
    for (const Isa isa : options_.isas) {
      const std::vector<Prompt> read = {isa == Isa::kScalar ? first(longest_, kScalarLength)
                                                            : longest_};
      add(chunked(lengths_of(read), isa == Isa::kScalar ? 4 : 33), read);
      cases_.back().schedule.name = fmt::format("instruction set {}", to_string(isa));
      cases_.back().isa = isa;
    }
  }

  const CaseOptions& options_;
  std::vector<Prompt> prompts_;
  Prompt longest_;
  Prompt all_;
  std::vector<Case> cases_;
};

}  // namespace

std::vector<Case> exact_cases(const std::vector<Prompt>& prompts, const CaseOptions& options) {
  return CaseList(prompts, options).take();
}

}  // namespace lockstep::verify
