// What a user typed, parsed and checked as far as that goes without a model.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/isa.h"
#include "checkpoint/gguf/tensor_type.h"
#include "checkpoint/tensor_source.h"
#include "formats/affine_quantiser.h"
#include "model/precision.h"
#include "runtime/draft/acceptance.h"
#include "sampling/settings.h"

namespace lockstep {

struct ModelArgs {
  std::string model;  // a folder or the name of an embedded model
  std::string mtp;    // a draft head; empty: the one the model has
  bool no_mtp = false;
  bool allow_unused = false;
  Precision precision = Precision::kInt8;
  std::optional<int64_t> context;  // positions
  std::optional<int> threads;
  std::optional<Isa> isa;
};

// Prompts that are kept on disk for later runs.
struct CacheArgs {
  std::optional<std::string> folder;
  std::optional<int64_t> gib;  // that it may take
};

inline constexpr int64_t kDefaultCacheGib = 16;

// Absent: what generation_config.json says, else the neutral default.
struct SamplingArgs {
  std::optional<double> temperature;
  std::optional<int64_t> top_k;
  std::optional<double> top_p;
  std::optional<double> min_p;
  std::optional<double> repetition_penalty;
  std::optional<double> presence_penalty;
  std::optional<double> frequency_penalty;
  std::optional<int64_t> penalty_window;
  std::vector<LogitBias> logit_bias;  // generation_config.json says nothing about these three
  std::vector<int32_t> banned_tokens;
  std::vector<int32_t> allowed_tokens;
  std::optional<uint64_t> seed;
};

struct ReplyArgs {
  SamplingArgs sampling;
  std::optional<int64_t> max_tokens;
  std::optional<std::string> system;
  bool no_think = false;
  int64_t drafts = kMostDrafts;  // of one window at the most; 0: off
};

struct RunArgs {
  ModelArgs model;
  ReplyArgs reply;
  CacheArgs cache;
  std::optional<std::string> prompt;  // "-": standard input
  std::optional<std::string> file;    // exactly one of the four
  std::optional<std::string> ids_file;
  std::optional<std::string> batch;  // a file of JSON lines; "-": standard input
  std::optional<int64_t> parallel;   // lines answered at once
  bool raw = false;
  bool json = false;
  std::optional<int64_t> logprobs;
  std::optional<int64_t> prompt_logprobs;
  std::optional<std::string> prediction;  // a file
};

struct ChatArgs {
  ModelArgs model;
  ReplyArgs reply;
  CacheArgs cache;
};

struct ServeArgs {
  ModelArgs model;
  std::string host = "127.0.0.1";
  int64_t port = 8080;  // 0: any free one
  std::string name;     // as clients call the model; empty: the folder's
  std::optional<int64_t> parallel;
  int64_t queue = 256;
  std::vector<std::string> keys;
  std::string key_file;
  std::string certificate;
  std::string certificate_key;
  std::string cors_origin;
  std::string reasoning_field = "both";
  int64_t max_body_mib = 32;
  int64_t max_header_kib = 32;
  int64_t connections = 4096;
  int64_t idle_seconds = 75;
  int64_t read_seconds = 30;
  int64_t write_seconds = 60;
  bool log_requests = false;
};

struct InfoArgs {
  ModelArgs model;
  bool json = false;
};

struct ModelsArgs {
  bool json = false;
};

struct SynthArgs {
  std::string shape;
  std::string folder;
  Layout layout = Layout::kMlx;
  std::optional<uint64_t> seed;
  std::optional<int> threads;
};

struct ConvertArgs {
  ModelArgs model;
  std::string out;
  Layout to = Layout::kGguf;
  GgufTensorType gguf_type = {};  // of a GGUF file's matrices
  AffineFormat affine;            // of an MLX folder's
};

struct BenchArgs {
  ModelArgs model;
  std::vector<int64_t> prefill = {512};  // prompt lengths
  std::vector<int64_t> depths = {0};     // positions before the decoded tokens
  std::vector<int64_t> streams = {1};    // sequences decoded together
  int64_t tokens = 32;                   // decoded by each stream in one measurement
  int64_t repeat = 5;                    // measurements, after a warm-up
  int64_t chunk = 128;                   // prompt rows of one forward pass
  bool roofline = false;
  bool json = false;
};

struct VerifyExactArgs {
  ModelArgs model;
  std::string prompts;  // a file; empty: built in
  bool quick = false;
  bool json = false;
};

struct VerifyKernelsArgs {
  ModelArgs model;
  std::string shape;  // of a released model; exactly one of the two is given
  std::string only;   // empty: every kernel
  bool json = false;
};

// A dump is made of a model and a sequence, or two dumps are compared.
struct VerifyStagesArgs {
  ModelArgs model;                    // its name is the first dump's where two are compared
  std::optional<std::string> second;  // the prompt, or the second dump
  std::optional<std::string> ids_file;
  std::string positions = "all";
  std::optional<std::string> dump;  // a .safetensors file, or a folder
  bool float64 = false;
  bool json = false;

  bool compares_dumps() const { return model.model.ends_with(".safetensors"); }
};

struct VerifyMtpArgs {
  ModelArgs model;
  std::string reference;
  bool json = false;
};

struct EvalArgs {
  ModelArgs model;
  std::string file;
  int64_t window = 512;
  int64_t stride = 256;
  std::optional<Precision> against;
  bool json = false;
};

using Command = std::variant<RunArgs, ChatArgs, ServeArgs, InfoArgs, ModelsArgs, SynthArgs,
                             ConvertArgs, BenchArgs, VerifyExactArgs, VerifyKernelsArgs,
                             VerifyStagesArgs, VerifyMtpArgs, EvalArgs>;

// Something to do, or something to say and to leave with.
struct CommandLine {
  std::optional<Command> command;
  std::string text;   // of --help and --version: for standard output
  std::string error;  // one line: for standard error
};

// `arguments` without the program's name.
CommandLine parse_command_line(std::span<const std::string> arguments);

}  // namespace lockstep
