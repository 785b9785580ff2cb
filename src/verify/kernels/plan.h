// Every (op, shape class) that a model launches on CPU: forward pass, draft head and replay. From
// the configuration and the weights' shapes and encodings alone; no byte of a weight is read.
#pragma once

#include <vector>

#include "checkpoint/model_config.h"
#include "kernels/launch_log.h"
#include "model/precision.h"
#include "model/weights.h"

namespace lockstep::verify {

// Each class once, by op and then as the layers come.
std::vector<ShapeClass> plan_launches(const ModelConfig& config, const ModelWeights& weights,
                                      Precision precision);
// In either precision.
std::vector<ShapeClass> plan_launches(const ModelConfig& config, const ModelWeights& weights);

// A sentence for each launch whose kernel no op registered, whose op has no contract or whose shape
// class `planned` lacks, and for each class of `planned` that was not launched.
std::vector<std::string> uncovered(const LaunchLog& log, const std::vector<ShapeClass>& planned);

}  // namespace lockstep::verify
