// A model folder made ready to generate.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/command_line.h"
#include "apps/console.h"
#include "base/result.h"
#include "base/thread_pool.h"
#include "model/forward_pass.h"
#include "model/model.h"
#include "runtime/memory_plan.h"
#include "runtime/stream_engine.h"
#include "text/chat_template.h"
#include "text/tokenizer.h"

namespace lockstep {

// The members refer to each other: an engine stays where it was made.
struct Engine {
  Engine(Model loaded, Tokenizer its_tokenizer, int threads, Isa used_isa,
         const MemorySetup& its_setup);
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  Model model;
  Tokenizer tokenizer;
  std::optional<ChatTemplate> chat_template;
  std::string template_fault;  // why there is none
  std::vector<int32_t> stop_ids;
  Isa isa;
  MemorySetup setup;
  std::string context_note;  // why not all that the model could
  ThreadPool pool;
  ForwardPass pass;
  std::unique_ptr<StreamEngine> streams;  // last: its thread uses the others
};

// The checkpoint with its tokenizer, not read in yet.
struct OpenedModel {
  Model model;
  Tokenizer tokenizer;
};
Result<OpenedModel> open_model(const std::filesystem::path& folder, const ModelArgs& args);

// What a command does with the engine.
struct EngineUse {
  std::optional<int64_t> streams = 1;  // replies at once; absent: as many as fit well
  bool cache = false;                  // prompts have something in common
  CacheArgs disk = {};
};

// Opens, checks that it fits into memory for this use, and reads the weights in behind a progress
// bar.
Result<std::unique_ptr<Engine>> load_engine(const std::filesystem::path& folder,
                                            const ModelArgs& args, const EngineUse& use,
                                            const Console& console);

// Ids that end a reply: those of the configs, and the family's two ends of turn where the tokenizer
// has them, whatever the configs say.
std::vector<int32_t> stop_ids(const Model& model, const Tokenizer& tokenizer);

}  // namespace lockstep
