#include "server/metrics.h"

#include <fmt/format.h>

#include <iterator>

namespace lockstep {
namespace {

struct Known {
  const char* name;
  const char* help;
};

// docs/serving.md repeats this table.
constexpr Known kCounters[] = {
    {"lockstep_requests_total", "Requests answered, by path and status."},
    {"lockstep_refused_total", "Requests refused because the queue was full."},
    {"lockstep_prompt_tokens_total", "Prompt tokens of finished replies."},
    {"lockstep_cached_tokens_total", "Of these, tokens whose state was kept and not read again."},
    {"lockstep_reply_tokens_total", "Tokens drawn."},
    {"lockstep_thinking_tokens_total", "Of these, tokens of thinking."},
    {"lockstep_drafts_offered_total", "Drafted tokens that were tried."},
    {"lockstep_drafts_accepted_total", "Of these, tokens that were right."},
    {"lockstep_replies_total", "Replies that ended, by how."},
};
constexpr Known kHistograms[] = {
    {"lockstep_queue_seconds", "From a request to its place in a round."},
    {"lockstep_first_token_seconds", "From a request to its first token."},
    {"lockstep_request_seconds", "From a generation's request to its end."},
};
constexpr double kBuckets[] = {0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0};

template <size_t kCount>
const char* help_of(const Known (&known)[kCount], std::string_view name) {
  for (const Known& entry : known) {
    if (entry.name == name) return entry.help;
  }
  return "";
}

void head(std::string& text, std::string_view name, const char* help, const char* type) {
  fmt::format_to(std::back_inserter(text), "# HELP {0} {1}\n# TYPE {0} {2}\n", name, help, type);
}

void single(std::string& text, const char* name, const char* help, const char* type, double value) {
  head(text, name, help, type);
  fmt::format_to(std::back_inserter(text), "{} {}\n", name, value);
}

void render_engine(std::string& text, const EngineFigures& figures) {
  const auto real = [](auto value) { return static_cast<double>(value); };
  single(text, "lockstep_streams_running", "Replies in the making.", "gauge",
         real(figures.running));
  single(text, "lockstep_streams_waiting", "Replies that wait for a place.", "gauge",
         real(figures.waiting));
  single(text, "lockstep_pages_taken", "Pages of 64 positions in use.", "gauge",
         real(figures.pages_taken));
  single(text, "lockstep_rounds_total", "Rounds run.", "counter", real(figures.rounds));
  single(text, "lockstep_rows_total", "Token rows run in all rounds.", "counter",
         real(figures.rows));
  single(text, "lockstep_preemptions_total", "Streams that lost their place and started again.",
         "counter", real(figures.preemptions));
  single(text, "lockstep_round_seconds_total", "Time of all rounds.", "counter",
         figures.round_seconds);
  single(text, "lockstep_pass_seconds_total", "Of these: in the model.", "counter",
         figures.pass_seconds);
  single(text, "lockstep_draw_seconds_total", "Of these: in samplers.", "counter",
         figures.draw_seconds);
  single(text, "lockstep_cache_states", "States in the prompt cache.", "gauge",
         real(figures.cache.states));
  single(text, "lockstep_cache_bytes", "Memory of these.", "gauge", real(figures.cache.bytes));
  single(text, "lockstep_cache_evicted_total", "States given up for others.", "counter",
         real(figures.cache.evicted));
  head(text, "lockstep_cache_lookups_total", "Lookups, by why no more was found.", "counter");
  for (size_t i = 0; i < kMissReasons; ++i) {
    fmt::format_to(std::back_inserter(text), "lockstep_cache_lookups_total{{reason=\"{}\"}} {}\n",
                   to_string(static_cast<MissReason>(i)), figures.cache.lookups[i]);
  }
}

}  // namespace

void Metrics::count(std::string_view name, std::string_view labels, double by) {
  const std::lock_guard lock(mutex_);
  counters_[std::string(name)][std::string(labels)] += by;
}

void Metrics::observe(std::string_view name, double seconds) {
  const std::lock_guard lock(mutex_);
  Histogram& histogram = histograms_[std::string(name)];
  histogram.buckets.resize(std::size(kBuckets));
  for (size_t i = 0; i < std::size(kBuckets); ++i) histogram.buckets[i] += seconds <= kBuckets[i];
  ++histogram.count;
  histogram.sum += seconds;
}

std::string Metrics::render(const EngineFigures& figures) const {
  std::string text;
  const auto out = std::back_inserter(text);
  const std::lock_guard lock(mutex_);
  for (const auto& [name, series] : counters_) {
    head(text, name, help_of(kCounters, name), "counter");
    for (const auto& [labels, value] : series) {
      const std::string braces = labels.empty() ? "" : fmt::format("{{{}}}", labels);
      fmt::format_to(out, "{}{} {}\n", name, braces, value);
    }
  }
  for (const auto& [name, histogram] : histograms_) {
    head(text, name, help_of(kHistograms, name), "histogram");
    for (size_t i = 0; i < std::size(kBuckets); ++i) {
      fmt::format_to(out, "{}_bucket{{le=\"{}\"}} {}\n", name, kBuckets[i], histogram.buckets[i]);
    }
    fmt::format_to(out, "{0}_bucket{{le=\"+Inf\"}} {1}\n{0}_sum {2}\n{0}_count {1}\n", name,
                   histogram.count, histogram.sum);
  }
  render_engine(text, figures);
  return text;
}

}  // namespace lockstep
