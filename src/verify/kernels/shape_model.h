// A released model's configuration and weight shapes by its name, without weights: what `lockstep
// synth NAME --format mlx4` would write.
#pragma once

#include <string_view>

#include "base/result.h"
#include "checkpoint/model_config.h"
#include "model/weights.h"

namespace lockstep::verify {

struct ShapeModel {
  ModelConfig config;
  ModelWeights weights;  // matrices have no data, vectors are empty
};

// An unknown name is an error that lists the known ones.
Result<ShapeModel> shape_model(std::string_view name);

}  // namespace lockstep::verify
