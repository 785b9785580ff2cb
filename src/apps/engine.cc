#include "apps/engine.h"

#include <fmt/format.h>

#include <algorithm>

#include "apps/model_text.h"
#include "apps/progress_bar.h"
#include "checkpoint/content_hash.h"
#include "checkpoint/page_loader.h"
#include "device/cpu_info.h"
#include "runtime/memory_plan.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kRoundRows = 128;

struct Fitting {
  MemorySetup setup;
  std::string note;  // why the context is not all that the model could
};

// What was asked for if it fits, else the most that does.
Result<Fitting> fit(const Model& model, const ModelArgs& args, const EngineUse& use) {
  const int64_t most = model.config().max_positions;
  if (args.context && *args.context > most) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("--ctx is {}, this model knows {} positions", *args.context, most)};
  }
  // Where the system does not say what is free, it is for the user to know.
  const std::optional<uint64_t> available = available_memory();
  MemoryWish wish = {.context = available ? args.context : args.context.value_or(most),
                     .streams = use.streams,
                     .round_rows = std::max(kRoundRows, use.streams.value_or(kDefaultStreams))};
  if (!use.cache && !use.disk.folder) wish.cache_bytes = 0;
  LOCKSTEP_ASSIGN_OR_RETURN(MemorySetup setup,
                            fit_memory(model, wish, available.value_or(UINT64_MAX)));
  std::string note;
  if (!args.context && setup.context < most) {
    note = fmt::format("what fits into the {} that are free", format_bytes(*available));
  }
  return Fitting{setup, std::move(note)};
}

Result<EngineOptions> engine_options(const Model& model, const MemorySetup& setup,
                                     const CacheArgs& disk) {
  EngineOptions options = {.context = setup.context,
                           .streams = setup.streams,
                           .pages = setup.pages,
                           .rules = {.rows = setup.round_rows}};
  if (setup.cache_bytes > 0) options.cache = {.memory_bytes = setup.cache_bytes};
  if (!disk.folder) return options;
  if (!options.cache) {
    return Error{ErrorCode::kOutOfMemory,
                 "--cache-dir: no memory is left for a prompt cache; a smaller --ctx leaves some"};
  }
  LOCKSTEP_ASSIGN_OR_RETURN(const Hash128 content, content_hash(model.checkpoint()));
  options.cache->disk = {
      .directory = *disk.folder,
      .bytes = static_cast<uint64_t>(disk.gib.value_or(kDefaultCacheGib)) << 30,
      .key = fmt::format("{} content={}", model.precision_tuple(), content.hex())};
  return options;
}

// A checkpoint without a usable template can still run --raw.
void load_template(Engine& engine) {
  auto loaded = chat_template_of(engine.model.checkpoint());
  if (loaded.ok()) {
    engine.chat_template = std::move(loaded).value();
  } else {
    engine.template_fault = loaded.error().message;
  }
}

}  // namespace

Engine::Engine(Model loaded, Tokenizer its_tokenizer, int threads, Isa used_isa,
               const MemorySetup& its_setup)
    : model(std::move(loaded)),
      tokenizer(std::move(its_tokenizer)),
      isa(used_isa),
      setup(its_setup),
      pool(threads),
      pass(model, {.pool = pool, .isa = used_isa}, its_setup.pass_limits()) {}

Result<OpenedModel> open_model(const fs::path& folder, const ModelArgs& args) {
  OpenOptions options;
  options.mtp_path = args.mtp;
  options.use_mtp = !args.no_mtp;
  LOCKSTEP_ASSIGN_OR_RETURN(Checkpoint checkpoint, open_checkpoint(folder, options));
  LOCKSTEP_ASSIGN_OR_RETURN(Tokenizer tokenizer, tokenizer_of(checkpoint));
  const ModelOptions model_options = {.precision = args.precision,
                                      .token_limit = tokenizer.vocab_size(),
                                      .allow_unused = args.allow_unused};
  LOCKSTEP_ASSIGN_OR_RETURN(Model model, Model::make(std::move(checkpoint), model_options));
  return OpenedModel{std::move(model), std::move(tokenizer)};
}

std::vector<int32_t> stop_ids(const Model& model, const Tokenizer& tokenizer) {
  std::vector<int32_t> ids = model.config().eos_ids;
  for (const char* name : {"<|im_end|>", "<|endoftext|>"}) {
    if (const auto id = tokenizer.find_token(name)) ids.push_back(*id);
  }
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

Result<std::unique_ptr<Engine>> load_engine(const fs::path& folder, const ModelArgs& args,
                                            const EngineUse& use, const Console& console) {
  LOCKSTEP_ASSIGN_OR_RETURN(OpenedModel opened, open_model(folder, args));
  LOCKSTEP_ASSIGN_OR_RETURN(const Fitting fitting, fit(opened.model, args, use));
  {
    ProgressBar bar("loading", console.err_terminal);
    LOCKSTEP_RETURN_IF_ERROR(
        load_pages(opened.model.checkpoint(),
                   [&](uint64_t done, uint64_t total) { bar.update(done, total); }));
  }
  auto engine = std::make_unique<Engine>(std::move(opened.model), std::move(opened.tokenizer),
                                         args.threads.value_or(usable_cpus()),
                                         args.isa.value_or(best_isa()), fitting.setup);
  LOCKSTEP_ASSIGN_OR_RETURN(const EngineOptions options,
                            engine_options(engine->model, fitting.setup, use.disk));
  LOCKSTEP_ASSIGN_OR_RETURN(engine->streams,
                            StreamEngine::make(engine->pass, engine->pool, options));
  load_template(*engine);
  engine->stop_ids = stop_ids(engine->model, engine->tokenizer);
  engine->context_note = fitting.note;
  return engine;
}

}  // namespace lockstep
