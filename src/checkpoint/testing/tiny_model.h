// For tests: whole checkpoints of a few kilobytes, in every layout, to be broken at will.
#pragma once

#include <filesystem>
#include <string>

#include "base/json.h"
#include "checkpoint/tensor_source.h"
#include "checkpoint/testing/test_weights.h"

namespace lockstep {

struct TinySpec {
  Layout layout = Layout::kHuggingFace;
  bool moe = false;
  bool quantised = false;  // 4-bit affine in groups of 32
  bool draft_head = true;  // included as mtp.*
  DType dtype = DType::kBF16;
};

// One DeltaNet and one attention layer, width 64, vocabulary 40; names are canonical.
struct TinyModel {
  json::object config;
  TestTensors tensors;

  json::object& text() { return config["text_config"].as_object(); }
  // Takes the draft head out and returns it.
  TestTensors split_draft_head();
};

TinyModel tiny_model(const TinySpec& spec = {});

// Every name with its canonical prefix exchanged: respell(t, "model.", "language_model.model.").
TestTensors respell(const TestTensors& tensors, const std::string& from, const std::string& to);

// Writes config.json and model.safetensors, or `shards` files with an index.
void write_model(const std::filesystem::path& folder, const TinyModel& model, int shards = 1);

}  // namespace lockstep
