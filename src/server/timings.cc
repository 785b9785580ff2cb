#include "server/timings.h"

namespace lockstep {
namespace {

// Counts by the place in a window.
json::array places_json(const DraftPlaces& places) {
  return json::array(places.begin(), places.end());
}

json::object drafts_json(const DraftCounts& drafts) {
  json::object object;
  for (size_t kind = 0; kind < kDrafterKinds; ++kind) {
    const DrafterCounts& counts = drafts.of[kind];
    object[to_string(static_cast<DrafterKind>(kind))] = {
        {"rounds", counts.windows},
        {"offered", places_json(counts.offered)},
        {"accepted", places_json(counts.accepted)}};
  }
  object["draft_seconds"] = drafts.draft_seconds;
  object["verify_seconds"] = drafts.verify_seconds;
  return object;
}

}  // namespace

json::object timings_json(const ReplyTimings& timings) {
  json::object object = {{"queue_seconds", timings.queue_seconds},
                         {"prompt_tokens", timings.prompt_tokens},
                         {"cached_tokens", timings.cached_tokens},
                         {"cache_miss", nullptr},
                         {"prompt_seconds", timings.prompt_seconds},
                         {"prompt_tokens_per_second", timings.prompt_rate()},
                         {"reply_tokens", timings.reply_tokens},
                         {"reply_seconds", timings.decode_seconds},
                         {"reply_tokens_per_second", timings.decode_rate()},
                         {"reply_rounds", timings.decode_rounds},
                         {"drafts", drafts_json(timings.drafts)}};
  if (timings.cache_miss) object["cache_miss"] = to_string(*timings.cache_miss);
  return object;
}

}  // namespace lockstep
