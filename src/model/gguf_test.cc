// Small GGUF files and the logits that llama.cpp gave for them (python/make_tiny_gguf.py).
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "checkpoint/mapped_file.h"
#include "model/testing/runner.h"

namespace lockstep::testing {
namespace {

constexpr int64_t kCount = 24;
constexpr int32_t kVocab = 64;

std::string figure(const std::string& name) {
  return std::string(LOCKSTEP_SOURCE_DIR) + "/tests/figures/gguf/" + name;
}

std::vector<float> expected(const std::string& name) {
  const MappedFile file = MappedFile::open(figure(name + ".logits")).value();
  std::vector<float> values(kCount * kVocab);
  EXPECT_EQ(file.bytes().size(), values.size() * sizeof(float));
  std::memcpy(values.data(), file.bytes().data(), values.size() * sizeof(float));
  return values;
}

std::vector<float> logits(const std::string& name, Precision precision, int64_t chunk) {
  Result<Checkpoint> checkpoint = open_checkpoint(figure(name + ".gguf"), {});
  EXPECT_TRUE(checkpoint.ok()) << checkpoint.error().message;
  EXPECT_TRUE(checkpoint.value().warnings.empty());
  Result<Model> model = Model::make(std::move(checkpoint).value(), {.precision = precision});
  EXPECT_TRUE(model.ok()) << model.error().message;
  EXPECT_NE(model.value().precision_tuple().find("heads=tiled"), std::string::npos);
  Runner runner(model.value());
  SequenceState sequence = runner.new_sequence();
  std::vector<int32_t> ids;
  for (int32_t i = 0; i < kCount; ++i) ids.push_back((1 + 7 * i) % kVocab);
  return runner.read(sequence, ids, chunk);
}

// Root mean square of the difference over that of `want`.
double error_of(const std::vector<float>& got, const std::vector<float>& want) {
  double difference = 0.0, size = 0.0;
  for (size_t i = 0; i < want.size(); ++i) {
    difference += std::pow(static_cast<double>(got[i]) - want[i], 2);
    size += std::pow(static_cast<double>(want[i]), 2);
  }
  return std::sqrt(difference / size);
}

// The same float32 products in another order.
TEST(Gguf, EqualsLlamaCppInFloat32) {
  const double error =
      error_of(logits("dense-f32", Precision::kFull, kCount), expected("dense-f32"));
  std::printf("clause GGUF F32: %.2e from llama.cpp\n", error);
  EXPECT_LT(error, 1e-5);
}

// llama.cpp rounds activations to int8 per 32 values, as this engine does in int8. How far such
// roundings move the logits is seen from our own two arithmetics; the other engine's are as large
// and independent of them. A wrong norm, head order or sign moves the logits by half and more.
TEST(Gguf, LiesWithinTheRoundingOfActivationsOfLlamaCpp) {
  for (const char* name : {"dense-q8_0", "moe-mixed"}) {
    const std::vector<float> full = logits(name, Precision::kFull, kCount);
    const std::vector<float> int8 = logits(name, Precision::kInt8, kCount);
    const std::vector<float> want = expected(name);
    const double rounding = error_of(int8, full);
    std::printf("clause GGUF %s: full %.2e, int8 %.2e from llama.cpp; our own rounding %.2e\n",
                name, error_of(full, want), error_of(int8, want), rounding);
    EXPECT_LT(error_of(full, want), 2.0 * rounding) << name;
    EXPECT_LT(error_of(int8, want), 2.0 * std::sqrt(2.0) * rounding) << name;
    EXPECT_LT(rounding, 0.1) << name;
  }
}

TEST(Gguf, GivesEqualBitsForEveryChunk) {
  for (const char* name : {"dense-f32", "dense-q8_0", "moe-mixed"}) {
    const std::vector<float> whole = logits(name, Precision::kInt8, kCount);
    for (const int64_t chunk : {1, 5, 17}) {
      EXPECT_EQ(logits(name, Precision::kInt8, chunk), whole) << name << ", chunks of " << chunk;
    }
  }
}

}  // namespace
}  // namespace lockstep::testing
