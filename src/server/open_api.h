// The document that /openapi.json gives: src/server/openapi.json.
#pragma once

namespace lockstep {

extern const char* const kOpenApi;

}  // namespace lockstep
