#include "apps/engine.h"

#include <fmt/format.h>

#include <algorithm>

#include "apps/model_text.h"
#include "apps/progress_bar.h"
#include "checkpoint/page_loader.h"
#include "device/cpu_info.h"
#include "runtime/memory_plan.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;

struct ContextChoice {
  int64_t positions = 0;
  std::string note;
};

// What was asked for if it fits, else the most that does.
Result<ContextChoice> choose_context(const Model& model, const ModelArgs& args) {
  const int64_t most = model.config().max_positions;
  if (args.context && *args.context > most) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("--ctx is {}, this model knows {} positions", *args.context, most)};
  }
  const std::optional<uint64_t> available = available_memory();
  if (!available) return ContextChoice{args.context.value_or(most), {}};
  if (args.context) {
    const MemoryPlan plan = plan_memory(model, kSessionLimits, *args.context);
    LOCKSTEP_RETURN_IF_ERROR(check_fits(plan, *args.context, *available));
    return ContextChoice{*args.context, {}};
  }
  LOCKSTEP_ASSIGN_OR_RETURN(const int64_t fitting,
                            largest_context(model, kSessionLimits, *available));
  if (fitting == most) return ContextChoice{most, {}};
  return ContextChoice{
      fitting, fmt::format("what fits into the {} that are free", format_bytes(*available))};
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

Engine::Engine(Model loaded, Tokenizer its_tokenizer, int threads, Isa used_isa)
    : model(std::move(loaded)),
      tokenizer(std::move(its_tokenizer)),
      isa(used_isa),
      pool(threads),
      pass(model, {.pool = pool, .isa = used_isa}, kSessionLimits) {}

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
                                            const Console& console) {
  LOCKSTEP_ASSIGN_OR_RETURN(OpenedModel opened, open_model(folder, args));
  LOCKSTEP_ASSIGN_OR_RETURN(const ContextChoice context, choose_context(opened.model, args));
  {
    ProgressBar bar("loading", console.err_terminal);
    LOCKSTEP_RETURN_IF_ERROR(
        load_pages(opened.model.checkpoint(),
                   [&](uint64_t done, uint64_t total) { bar.update(done, total); }));
  }
  auto engine =
      std::make_unique<Engine>(std::move(opened.model), std::move(opened.tokenizer),
                               args.threads.value_or(usable_cpus()), args.isa.value_or(best_isa()));
  load_template(*engine);
  engine->stop_ids = stop_ids(engine->model, engine->tokenizer);
  engine->context = context.positions;
  engine->context_note = context.note;
  return engine;
}

}  // namespace lockstep
