// libFuzzer target: the body of a chat or completion request, from JSON to the prompt's ids.
#include <cstdlib>

#include "server/openai/chat_call.h"
#include "server/openai/completion_call.h"

namespace {

using namespace lockstep;

const std::string kModel = "models/tiny-dense-mlx-4bit/";  // of the tree's root

struct Fixture {
  Tokenizer tokenizer = load_tokenizer(kModel + "tokenizer.json").value();
  ChatTemplate chat_template = load_chat_template(kModel).value();
  ServedModel model = {.name = "m",
                       .limits = {.vocab = tokenizer.vocab_size(), .context = 4096, .streams = 4},
                       .tokenizer = tokenizer,
                       .chat_template = &chat_template,
                       .stop_ids = {},
                       .defaults = {},
                       .fingerprint = {},
                       .properties = {}};
};

// What was taken must be something that the engine takes.
void check(const ServedModel& model, const Request& request) {
  if (!check_request(request, model.limits).ok()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const Fixture fixture;
  const auto body = parse_json({reinterpret_cast<const char*>(data), size}, "the body");
  if (!body.ok() || !body.value().is_object()) return 0;
  const json::object& object = body.value().as_object();
  openai::ChatCall chat;
  if (!openai::read_chat_call(object, fixture.model, chat)) {
    check(fixture.model, chat.generation.request);
  }
  openai::CompletionCall completion;
  if (!openai::read_completion_call(object, fixture.model, completion)) {
    check(fixture.model, completion.generation.request);
  }
  return 0;
}
