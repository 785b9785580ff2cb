#include "runtime/testing/soak.h"

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <thread>
#include <utility>

#include "base/isa.h"
#include "model/testing/runner.h"
#include "runtime/stream_engine.h"
#include "runtime/testing/solo_run.h"

namespace lockstep::testing {
namespace {

constexpr int64_t kContext = 192;
constexpr int64_t kIds = kSoakIds;

class Dice {
 public:
  explicit Dice(uint64_t seed) : engine_(seed) {}
  // In [low, high].
  int64_t number(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(engine_() % static_cast<uint64_t>(high - low + 1));
  }
  bool one_in(int64_t count) { return number(1, count) == 1; }
  double part() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }

 private:
  std::mt19937_64 engine_;
};

enum class Leave { kNever, kAtOnce, kAfterTokens, kByFlag, kDrop };

// What one client does.
struct Client {
  Request request;
  Leave leave = Leave::kNever;
  int64_t after = 0;  // tokens
  int64_t pause_us = 0;
  std::optional<RoundPhase> fault;
  int64_t fault_turn = 0;  // how often the phase goes well first
  int64_t check_stop = 0;  // the check stops at this token of a reply; 0: none
  std::atomic<bool> flag = false;
  std::atomic<int64_t> turns = 0;
  uint64_t number = 0;         // of the request in the engine
  std::vector<SoloRun> wants;  // of each reply
  std::vector<Reply> replies;
};

std::vector<int32_t> make_prompt(Dice& dice) {
  // Few documents and cuts, so that prompts share long starts.
  const int64_t document = dice.number(0, 2);
  const int64_t shared = dice.one_in(3) ? 0 : 32 * dice.number(1, 3);
  const int64_t own = dice.number(1, dice.one_in(4) ? 60 : 12);
  std::vector<int32_t> ids;
  for (int64_t i = 0; i < shared; ++i) {
    ids.push_back(static_cast<int32_t>((document * 977 + i * 31) % kIds));
  }
  for (int64_t i = 0; i < own; ++i) ids.push_back(static_cast<int32_t>(dice.number(0, kIds - 1)));
  return ids;
}

SamplingSettings make_sampling(Dice& dice) {
  SamplingSettings sampling = {.seed = static_cast<uint64_t>(dice.number(0, 1 << 20))};
  if (dice.one_in(4)) sampling.temperature = 0.0;
  if (dice.one_in(3)) sampling.temperature = 0.2 + 2.0 * dice.part();
  if (dice.one_in(2)) sampling.top_k = dice.number(1, 60);
  if (dice.one_in(2)) sampling.top_p = 0.05 + 0.95 * dice.part();
  if (dice.one_in(3)) sampling.min_p = 0.2 * dice.part();
  if (dice.one_in(4)) sampling.repetition_penalty = 0.5 + dice.part();
  if (dice.one_in(4)) sampling.presence_penalty = 4.0 * dice.part() - 2.0;
  if (dice.one_in(4)) sampling.frequency_penalty = 4.0 * dice.part() - 2.0;
  if (dice.one_in(2)) sampling.penalty_window = dice.number(0, 40);
  if (dice.one_in(4)) sampling.logit_bias = {{static_cast<int32_t>(dice.number(0, 99)), 9.5}};
  if (dice.one_in(6)) sampling.banned_tokens = {static_cast<int32_t>(dice.number(0, kIds - 1))};
  if (dice.one_in(8)) {
    const int64_t first = dice.number(0, kIds - 50);
    for (int32_t i = 0; i < 50; ++i) {
      sampling.allowed_tokens.push_back(static_cast<int32_t>(first) + i);
    }
    sampling.banned_tokens.clear();
  }
  return sampling;
}

std::unique_ptr<Client> make_client(Dice& dice, int64_t streams, bool tight) {
  auto client = std::make_unique<Client>();
  Request& request = client->request;
  request.prompt = make_prompt(dice);
  request.sampling = make_sampling(dice);
  if (tight) {
    request.max_tokens = dice.number(80, 150);
  } else if (!dice.one_in(12)) {
    request.max_tokens = dice.number(0, 24);
  }
  if (dice.one_in(4)) request.replies = dice.number(1, std::min<int64_t>(streams, 3));
  if (dice.one_in(3)) request.top_logprobs = dice.number(0, 20);
  if (dice.one_in(6)) request.prompt_logprobs = dice.number(0, 20);
  if (dice.one_in(3)) {
    for (int i = 0; i < 20; ++i) {
      request.stop_ids.push_back(static_cast<int32_t>(dice.number(0, kIds - 1)));
    }
  }
  if (dice.one_in(5)) client->check_stop = dice.number(1, 10);
  if (dice.one_in(3)) client->leave = static_cast<Leave>(dice.number(1, 4));
  client->after = dice.number(0, 8);
  client->pause_us = dice.number(0, 5000);
  if (dice.one_in(6)) {
    client->fault = static_cast<RoundPhase>(dice.number(0, 6));
    client->fault_turn = dice.number(0, 12);
  }
  if (dice.one_in(3)) request.drafts = dice.number(0, kMostDrafts);
  if (dice.one_in(6)) request.prediction = make_prompt(dice);
  request.use_cache = !dice.one_in(5);
  request.salt = dice.one_in(3) ? "another" : "";
  for (int64_t i = dice.number(0, 3); i > 0; --i) {
    request.marks.push_back({.length = dice.number(1, 120), .kind = SaveKind::kUserTurn});
  }
  if (client->leave == Leave::kByFlag) request.cancel = &client->flag;
  return client;
}

// Keeps the token that stops for some requests, not for others.
std::function<TokenVerdict(int64_t, int32_t)> make_check(int64_t stop) {
  if (stop == 0) return nullptr;
  auto seen = std::make_shared<std::map<int64_t, int64_t>>();
  return [seen, stop](int64_t reply, int32_t) -> TokenVerdict {
    if (++(*seen)[reply] < stop) return {};
    return {.keep = stop % 2 == 0, .stop = true};
  };
}

void be_client(Client& client, StreamEngine& engine, std::mutex& mutex,
               std::map<uint64_t, Client*>& by_number) {
  std::this_thread::sleep_for(std::chrono::microseconds(client.pause_us));
  Request request = client.request;
  request.check = make_check(client.check_stop);
  std::optional<ReplyStream> stream;
  {
    const std::lock_guard lock(mutex);  // the hooks must know the client before its first round
    stream.emplace(engine.submit(std::move(request)).value());
    client.number = stream->request();
    by_number[client.number] = &client;
  }
  if (client.leave == Leave::kAtOnce) stream->cancel();
  int64_t tokens = 0;
  if (client.leave == Leave::kDrop) {
    while (tokens++ < client.after && stream->next()) {
    }
    return;
  }
  client.replies = collect_replies(*stream, [&](int64_t, const ReplyToken&) {
    if (++tokens < client.after) return;
    if (client.leave == Leave::kAfterTokens) stream->cancel();
    if (client.leave == Leave::kByFlag) client.flag = true;
  });
}

struct Episode {
  std::vector<std::unique_ptr<Client>> clients;
  std::mutex mutex;
  std::map<uint64_t, Client*> by_number;
  std::map<std::pair<uint64_t, int64_t>, std::vector<std::byte>> left;

  // Right for a while, then wrong; often right or wrong all along. `luck` decides which.
  std::vector<int32_t> drafts(uint64_t luck, uint64_t number, int64_t reply,
                              std::span<const int32_t> ids, int64_t most) {
    const Client* client = nullptr;
    {
      const std::lock_guard lock(mutex);
      client = by_number.at(number);
    }
    const SoloRun& want = client->wants[static_cast<size_t>(reply)];
    const size_t drawn = ids.size() - client->request.prompt.size();
    Dice dice(luck + 7919 * number + 104729 * ids.size() + static_cast<uint64_t>(reply));
    std::vector<int32_t> drafts(static_cast<size_t>(dice.number(0, most)));
    const auto right = static_cast<size_t>(dice.number(0, most));
    for (size_t i = 0; i < drafts.size(); ++i) {
      const bool known = drawn + i < want.tokens.size();
      drafts[i] = known && i < right ? want.tokens[drawn + i].id
                                     : static_cast<int32_t>(dice.number(0, kIds - 1));
    }
    return drafts;
  }

  Status fault(RoundPhase phase, uint64_t number) {
    Client* client = nullptr;
    {
      const std::lock_guard lock(mutex);
      client = by_number.at(number);
    }
    if (client->fault != phase || client->turns++ != client->fault_turn) return {};
    return Error{ErrorCode::kIo, "a planted fault"};
  }
};

// What every reply is alone.
void run_alone(const Model& model, Episode& episode) {
  ThreadPool pool(1);
  ForwardPass pass(model, {.pool = pool, .isa = best_isa()}, {.rows = 64, .logit_rows = 1});
  for (const auto& client : episode.clients) {
    for (int64_t reply = 0; reply < client->request.replies; ++reply) {
      Request request = client->request;
      request.check = make_check(client->check_stop);
      client->wants.push_back(solo_run(pass, request, reply, kContext, 64));
    }
  }
}

void judge(uint64_t seed, const Episode& episode, SoakReport& report) {
  for (const auto& client : episode.clients) {
    ++report.requests;
    for (size_t i = 0; i < client->replies.size(); ++i) {
      const Reply& got = client->replies[i];
      const auto index = static_cast<int64_t>(i);
      if (got.end.timings.cached_tokens > 0) ++report.resumed;
      if (!got.end.status.ok() && got.end.status.error().message == "a planted fault" &&
          client->fault) {
        ++report.faulted;
        continue;
      }
      const SoloRun& want = client->wants[i];
      std::string difference = first_difference(want, got);
      const bool whole = got.end.finish != FinishReason::kCancelled;
      if (difference.empty() && whole &&
          episode.left.at({client->number, index}) != want.fingerprint) {
        difference = "the state that it left differs";
      }
      ++(whole ? report.equal : report.cancelled);
      if (difference.empty()) continue;
      report.differences.push_back(
          fmt::format("seed {}, request {}, reply {}: {}", seed, client->number, i, difference));
    }
  }
}

}  // namespace

std::string SoakReport::text() const {
  return fmt::format(
      "{} episodes, {} requests: {} replies equal, {} cancelled, {} faulted, {} resumed, {} "
      "preemptions, {} of {} drafts right, {} differences",
      episodes, requests, equal, cancelled, faulted, resumed, preemptions, right, drafts,
      differences.size());
}

void SoakReport::add(const DraftCounts& counts) {
  drafts += counts.offered();
  right += counts.accepted();
}

void soak_episode(const Model& model, uint64_t seed, SoakReport& report) {
  Dice dice(seed);
  Episode episode;
  // Streams that together outgrow the pages.
  const bool tight = dice.one_in(4);
  const int64_t streams = dice.number(tight ? 2 : 1, 6);
  const int64_t rows = std::max(streams, dice.number(4, 64));
  const int64_t least = EngineOptions::least_pages(kContext);
  EngineOptions options = {.context = kContext,
                           .streams = streams,
                           .pages = tight ? least : dice.number(least, least + streams),
                           .rules = {.rows = rows,
                                     .reply_share = 0.1 + 0.9 * dice.part(),
                                     .round_seconds = 0.2 * dice.part(),
                                     .piece = dice.number(1, 16),
                                     .overtakes = dice.number(1, 16)}};
  if (!tight && !dice.one_in(3)) {
    const auto page = static_cast<int64_t>(model.state_shape().page_bytes());
    const int64_t bytes = page * dice.number(0, dice.one_in(2) ? 5 : 200);
    options.cache = {.memory_bytes = static_cast<uint64_t>(bytes), .min_tokens = 1};
    options.save_policy = {.min_tokens = 1, .interval = dice.number(10, 60), .min_gain = 1};
  }
  options.fault = [&](RoundPhase phase, uint64_t number, int64_t) {
    return episode.fault(phase, number);
  };
  options.leave = [&](uint64_t number, int64_t reply, const SequenceState& state) {
    std::vector<std::byte> bytes = fingerprint(state);
    const std::lock_guard lock(episode.mutex);
    episode.left[{number, reply}] = std::move(bytes);
  };
  for (int64_t i = tight ? 4 : dice.number(4, 14); i > 0; --i) {
    episode.clients.push_back(make_client(dice, streams, tight));
  }
  run_alone(model, episode);
  if (dice.one_in(2)) {
    options.forced_drafts = [&episode, seed](uint64_t number, int64_t reply,
                                             std::span<const int32_t> ids, int64_t most) {
      return episode.drafts(seed, number, reply, ids, most);
    };
  }
  {
    ThreadPool pool(static_cast<int>(dice.number(1, 3)));
    ForwardPass pass(model, {.pool = pool, .isa = best_isa()},
                     {.rows = rows, .logit_rows = streams + dice.number(0, 12)});
    const auto made = StreamEngine::make(pass, pool, options);
    StreamEngine& engine = *made.value();
    std::vector<std::thread> threads;
    for (auto& client : episode.clients) {
      threads.emplace_back([&] { be_client(*client, engine, episode.mutex, episode.by_number); });
    }
    for (std::thread& thread : threads) thread.join();
    // Of the last round too: the engine publishes its figures before it sleeps.
    EngineFigures figures = engine.figures();
    for (int i = 0; i < 2000 && figures.running + figures.waiting > 0; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      figures = engine.figures();
    }
    report.preemptions += figures.preemptions;
    report.add(figures.drafts);
    const bool leaks = !options.cache && figures.pages_taken != 0;
    const bool exceeds = options.cache && figures.cache.bytes > options.cache->memory_bytes;
    if (leaks || exceeds || figures.running != 0 || figures.waiting != 0) {
      report.differences.push_back(fmt::format(
          "seed {}: {} pages, {} bytes of cache, {} running and {} waiting streams are left when "
          "all "
          "have gone",
          seed, figures.pages_taken, figures.cache.bytes, figures.running, figures.waiting));
    }
  }
  ++report.episodes;
  judge(seed, episode, report);
}

SoakReport run_soak(const Model& model, uint64_t seed, double seconds) {
  SoakReport report;
  const auto start = std::chrono::steady_clock::now();
  while (report.differences.empty()) {
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
    const double limit = report.saw_everything() ? seconds : 20.0 * seconds;
    if (passed.count() >= limit) break;
    soak_episode(model, seed++, report);
  }
  return report;
}

}  // namespace lockstep::testing
