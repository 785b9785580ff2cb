// For tests: a synthetic checkpoint, written, opened and removed again; the mapping stays.
#pragma once

#include <string_view>

#include "checkpoint/checkpoint.h"
#include "checkpoint/synth/synth.h"
#include "checkpoint/testing/temporary_folder.h"

namespace lockstep {

// A known micro shape with a small vocabulary, for tests that feed token ids.
inline SynthShape micro_shape(std::string_view name, int64_t vocab = 320) {
  SynthShape shape = find_synth_shape(name).value();
  shape.vocab = vocab;
  return shape;
}

inline Result<Checkpoint> make_synthetic(const SynthShape& shape, const SynthOptions& options = {},
                                         const OpenOptions& open_options = {}) {
  const TemporaryFolder folder;
  const auto report = write_synthetic_checkpoint(shape, folder.path(), options);
  if (!report.ok()) return report.error();
  return open_checkpoint(folder.path(), open_options);
}

}  // namespace lockstep
