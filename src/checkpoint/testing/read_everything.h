// For tests: reads every tensor that a forward pass needs, as the model does.
#pragma once

#include <gtest/gtest.h>

#include "checkpoint/head_source.h"
#include "checkpoint/source_tensor.h"

namespace lockstep {

inline void read_everything(Checkpoint& checkpoint) {
  const bool own_head = checkpoint.head_module == kHeadModule;
  for (const ModelTensor& tensor : model_tensors(checkpoint.config, own_head)) {
    const auto result = SourceTensor::read(checkpoint, tensor, {});
    EXPECT_TRUE(result.ok()) << result.error().message;
  }
}

}  // namespace lockstep
