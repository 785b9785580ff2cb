#include "server/foreign_paths.h"

#include <fmt/format.h>

namespace lockstep {
namespace {

struct Foreign {
  std::string_view path;
  const char* what;
};

constexpr Foreign kForeign[] = {
    {"/v1/responses", "the Responses API is not built yet; use /v1/chat/completions"},
    {"/v1/messages", "the Messages API is not built yet; use /v1/chat/completions"},
    {"/v1/embeddings", "these models make no embeddings"},
    {"/v1/rerank", "these models do not rank"},
    {"/v1/images", "these models make no images"},
    {"/v1/audio", "these models know no sound"},
    {"/v1/moderations", "these models do not moderate"},
    {"/v1/files", "files are not kept here"},
    {"/v1/batches", "batches are not kept here; lockstep run --batch answers a file of prompts"},
    {"/v1/fine_tuning", "nothing is trained here"},
    {"/api/", "this is not Ollama's API; use /v1/chat/completions"},
    {"/completion", "use /v1/completions"},
    {"/infill", "these models do not fill in text"},
    {"/generate", "use /v1/completions"},
    {"/chat/completions", "use /v1/chat/completions"},
    {"/completions", "use /v1/completions"},
    {"/models", "use /v1/models"},
};

}  // namespace

std::string describe_missing_path(std::string_view path) {
  for (const Foreign& foreign : kForeign) {
    if (path.starts_with(foreign.path))
      return fmt::format("{} is not served: {}", path, foreign.what);
  }
  return fmt::format("{} is not served; /openapi.json lists what is", path);
}

}  // namespace lockstep
