#include "apps/batch_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <deque>
#include <fstream>
#include <iostream>
#include <optional>
#include <string>
#include <utility>

#include "apps/batch_line.h"
#include "apps/chat_prompt.h"
#include "apps/engine.h"
#include "apps/interrupt.h"
#include "apps/model_path.h"
#include "apps/prompt_source.h"
#include "apps/reply.h"
#include "apps/run_json.h"
#include "apps/sampling_choice.h"
#include "apps/start_report.h"

namespace lockstep {
namespace {

constexpr int64_t kDefaultParallel = 4;
// Lines that are read ahead, so that a long reply at the head leaves no stream without work.
constexpr size_t kLinesPerStream = 4;

// A line on its way to its answer.
struct Job {
  int64_t line = 0;
  json::value id;
  Status status;
  std::optional<ReplyStream> stream;
  ReplyOptions options;
};

// The state of the whole, on one line of a terminal.
class Tally {
 public:
  explicit Tally(bool visible) : visible_(visible) {}
  ~Tally() {
    if (visible_) note_raw("\r\x1b[K");
  }

  void add(bool good, int64_t tokens) {
    ++(good ? answered_ : failed_);
    tokens_ += tokens;
    if (visible_) note_raw("\r\x1b[K" + text());
  }
  int64_t failed() const { return failed_; }
  std::string text() const {
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    return fmt::format("{} answered, {} failed, {} tokens at {:.1f} tok/s", answered_, failed_,
                       tokens_, seconds > 0.0 ? static_cast<double>(tokens_) / seconds : 0.0);
  }

 private:
  bool visible_;
  int64_t answered_ = 0;
  int64_t failed_ = 0;
  int64_t tokens_ = 0;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

class Batch {
 public:
  Batch(Engine& engine, const RunArgs& args, const Console& console, std::istream& input)
      : engine_(engine), args_(args), input_(input), tally_(console.err_terminal) {}

  int run();

 private:
  bool read_line(std::string& line);
  Job begin(std::string_view text);
  Status submit(std::string_view text, Job& job);
  Status conclude(Job& job);

  Engine& engine_;
  const RunArgs& args_;
  std::istream& input_;
  int64_t lines_ = 0;
  Tally tally_;
};

// The next line that is not empty.
bool Batch::read_line(std::string& line) {
  while (std::getline(input_, line)) {
    ++lines_;
    if (line.find_first_not_of(" \t\r") != std::string::npos) return true;
  }
  return false;
}

Result<Prompt> prompt_of(const Engine& engine, BatchLine& line) {
  if (!line.ids.empty()) return Prompt{.ids = std::move(line.ids)};
  if (line.prompt && line.raw) {
    LOCKSTEP_ASSIGN_OR_RETURN(std::vector<int32_t> ids, engine.tokenizer.encode(*line.prompt));
    return Prompt{.ids = std::move(ids)};
  }
  if (line.prompt) {
    if (line.reply.system) line.messages.push_back({"system", *line.reply.system, {}});
    line.messages.push_back({"user", *std::move(line.prompt), {}});
  }
  return encode_chat(engine, line.messages, line.reply.no_think);
}

Status Batch::submit(std::string_view text, Job& job) {
  const std::string what = fmt::format("line {}", job.line);
  LOCKSTEP_RETURN_IF_ERROR(check_prompt_text(text, what));
  LOCKSTEP_ASSIGN_OR_RETURN(BatchLine line, parse_batch_line(text, args_.reply, what));
  job.id = line.id;
  const bool raw = line.raw || !line.ids.empty();
  LOCKSTEP_ASSIGN_OR_RETURN(Prompt prompt, prompt_of(engine_, line));
  job.options = {.raw = raw, .begins_in_thinking = prompt.begins_in_thinking, .print = false};
  LOCKSTEP_ASSIGN_OR_RETURN(std::vector<int32_t> prediction,
                            engine_.tokenizer.encode(line.prediction.value_or("")));
  const SamplingChoice sampling =
      choose_sampling(line.reply.sampling, engine_.model.checkpoint().generation);
  LOCKSTEP_ASSIGN_OR_RETURN(job.stream,
                            engine_.streams->submit({.prompt = std::move(prompt.ids),
                                                     .max_tokens = line.reply.max_tokens,
                                                     .sampling = sampling.settings,
                                                     .replies = line.replies,
                                                     .stop_ids = engine_.stop_ids,
                                                     .top_logprobs = line.logprobs,
                                                     .prompt_logprobs = line.prompt_logprobs,
                                                     .drafts = line.reply.drafts,
                                                     .prediction = std::move(prediction),
                                                     .marks = std::move(prompt.marks),
                                                     .cancel = &InterruptScope::flag()}));
  return {};
}

Job Batch::begin(std::string_view text) {
  Job job = {.line = lines_, .id = nullptr, .status = {}, .stream = {}, .options = {}};
  job.status = submit(text, job);
  return job;
}

// Waits for the replies of a line and prints them.
Status Batch::conclude(Job& job) {
  json::array replies;
  int64_t tokens = 0;
  if (job.status.ok()) {
    for (Reply& reply : collect_replies(*job.stream)) {
      if (!reply.end.status.ok()) job.status = reply.end.status;
      if (reply.end.finish == FinishReason::kCancelled) return {};  // nobody waits for it
      tokens += reply.end.timings.reply_tokens;
      replies.push_back(reply_json(engine_, finish_reply(engine_, std::move(reply), job.options)));
    }
  }
  json::object line = {{"line", job.line}, {"id", job.id}};
  if (!job.status.ok()) {
    line["error"] = job.status.error().message;
  } else if (replies.size() == 1) {
    for (auto& [key, value] : replies.front().as_object()) line[key] = std::move(value);
  } else {
    line["replies"] = std::move(replies);
  }
  tally_.add(job.status.ok(), tokens);
  return print(dump_json(line) + "\n");
}

int Batch::run() {
  const InterruptScope interrupt(SecondInterrupt::kEndsProcess);
  const size_t ahead = kLinesPerStream * static_cast<size_t>(engine_.setup.streams);
  std::deque<Job> jobs;
  std::string line;
  bool more = true;
  while (true) {
    while (more && jobs.size() < ahead && !InterruptScope::flag()) {
      more = read_line(line);
      if (more) jobs.push_back(begin(line));
    }
    if (jobs.empty()) break;
    const Status written = conclude(jobs.front());
    if (!written.ok()) return fail(written.error());
    jobs.pop_front();
  }
  note(tally_.text());
  if (InterruptScope::flag()) return fail(kFailed, "interrupted: not all lines were answered");
  return tally_.failed() == 0 ? kDone : kFailed;
}

}  // namespace

int run_batch(const RunArgs& args, const Console& console) {
  const auto folder = find_model(args.model.model);
  if (!folder.ok()) return fail_to_find(folder.error());
  std::ifstream file;
  if (*args.batch != "-") {
    file.open(*args.batch);
    if (!file) {
      return fail(kFailed, fmt::format("{}: {}", *args.batch, std::strerror(errno)));
    }
  }
  auto engine = load_engine(
      folder.value(), args.model,
      {.streams = args.parallel.value_or(kDefaultParallel), .cache = true, .disk = args.cache},
      console);
  if (!engine.ok()) return fail(engine.error());
  const SamplingChoice sampling =
      choose_sampling(args.reply.sampling, engine.value()->model.checkpoint().generation);
  note_raw(without_controls(start_report(*engine.value(), sampling)));
  std::istream& input = *args.batch == "-" ? std::cin : file;
  return Batch(*engine.value(), args, console, input).run();
}

}  // namespace lockstep
