// Every encoding that readers must understand can be made, and opens as what it is.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "checkpoint/checkpoint.h"
#include "checkpoint/matrix_reader.h"
#include "checkpoint/synth/synth.h"
#include "checkpoint/testing/read_everything.h"
#include "checkpoint/testing/synthetic.h"

namespace lockstep {
namespace {

Checkpoint make_and_read(const SynthShape& shape, const SynthOptions& options) {
  auto opened = make_synthetic(shape, options);
  EXPECT_TRUE(opened.ok()) << opened.error().message;
  if (!opened.ok()) return {};
  read_everything(opened.value());
  EXPECT_TRUE(check_no_unknown_tensors(opened.value()).ok());
  for (const std::string& warning : opened.value().warnings) ADD_FAILURE() << warning;
  return std::move(opened).value();
}

MatrixView matrix(Checkpoint& model, std::string_view module, int64_t rows, int64_t cols) {
  const auto view = read_matrix(model, module, rows, cols);
  EXPECT_TRUE(view.ok()) << view.error().message;
  return view.ok() ? view.value() : MatrixView();
}

double relative_error(const MatrixView& matrix, const MatrixView& exact) {
  std::vector<float> row(static_cast<size_t>(matrix.cols));
  std::vector<float> wanted(static_cast<size_t>(matrix.cols));
  double error = 0.0;
  double norm = 0.0;
  for (int64_t r = 0; r < matrix.rows; ++r) {
    decode_row(matrix, r, row.data());
    decode_row(exact, r, wanted.data());
    for (size_t k = 0; k < row.size(); ++k) {
      error += (row[k] - wanted[k]) * (row[k] - wanted[k]);
      norm += wanted[k] * wanted[k];
    }
  }
  return std::sqrt(error / norm);
}

TEST(SynthVariants, EveryWidthAndGroupOpens) {
  const SynthShape shape = micro_shape("micro-r1");
  Checkpoint exact = make_and_read(shape, {.layout = Layout::kHuggingFace, .dtype = DType::kF32});
  const MatrixView wanted =
      matrix(exact, "model.layers.1.mlp.up_proj", shape.intermediate, shape.hidden);
  for (const DType dtype : {DType::kBF16, DType::kF16, DType::kF32}) {
    for (const int bits : {2, 3, 4, 5, 6, 8}) {
      for (const int group : {32, 64, 128}) {
        if (dtype != DType::kBF16 && group != 64) continue;
        Checkpoint model = make_and_read(shape, {.dtype = dtype, .bits = bits, .group = group});
        const MatrixView view =
            matrix(model, "model.layers.1.mlp.up_proj", shape.intermediate, shape.hidden);
        EXPECT_EQ(view.bits, bits);
        EXPECT_EQ(view.group, group);
        EXPECT_EQ(view.dtype, dtype);
        // Four-bit matrices are made directly, the others by quantising the exact values.
        if (bits == 4) continue;
        const double stored = dtype == DType::kBF16 ? 0.003 : 0.0;  // rounding of scales
        EXPECT_LT(relative_error(view, wanted), 1.7 / ((1 << bits) - 1) + stored) << bits;
      }
    }
  }
}

TEST(SynthVariants, UnquantisedTypesOpen) {
  for (const DType dtype : {DType::kBF16, DType::kF16, DType::kF32}) {
    for (const char* name : {"micro-r8", "micro-moe16"}) {
      Checkpoint model =
          make_and_read(micro_shape(name), {.layout = Layout::kHuggingFace, .dtype = dtype});
      EXPECT_EQ(model.tensors.find("model.embed_tokens.weight")->dtype, dtype);
    }
  }
}

TEST(SynthVariants, MixturesOpenWithEachModuleAsAsked) {
  const SynthShape shape = micro_shape("micro-moe16");
  const SynthOptions options = {.bits = 3,
                                .group = 32,
                                .overrides = {{"self_attn", 6, 64},
                                              {"layers.1.linear_attn.in_proj_qkv", 2, 128},
                                              {"model.embed_tokens", 5, 64},
                                              {"switch_mlp.down_proj", 8, 32},
                                              {"linear_attn.in_proj_a", 0, 64},
                                              {"layers.2.mlp.gate", 0, 64},
                                              {"mtp.fc", 6, 128}}};
  Checkpoint model = make_and_read(shape, options);
  const struct {
    const char* module;
    int64_t rows, cols;
    int bits, group;
  } kWanted[] = {
      {"model.embed_tokens", shape.vocab, shape.hidden, 5, 64},
      {"lm_head", shape.vocab, shape.hidden, 3, 32},
      {"model.layers.0.linear_attn.in_proj_qkv", shape.conv_channels(), shape.hidden, 3, 32},
      {"model.layers.1.linear_attn.in_proj_qkv", shape.conv_channels(), shape.hidden, 2, 128},
      {"model.layers.1.linear_attn.in_proj_a", shape.value_heads, shape.hidden, 0, 0},
      {"model.layers.1.mlp.gate", shape.experts, shape.hidden, 8, 64},
      {"model.layers.2.mlp.gate", shape.experts, shape.hidden, 0, 0},
      {"model.layers.3.self_attn.k_proj", shape.kv_heads * 256, shape.hidden, 6, 64},
      {"mtp.fc", shape.hidden, 2 * shape.hidden, 6, 128},
      {"mtp.layers.0.self_attn.k_proj", shape.kv_heads * 256, shape.hidden, 6, 64},
  };
  for (const auto& wanted : kWanted) {
    const MatrixView view = matrix(model, wanted.module, wanted.rows, wanted.cols);
    EXPECT_EQ(view.bits, wanted.bits) << wanted.module;
    EXPECT_EQ(view.group, wanted.group) << wanted.module;
  }
  const auto stack = read_expert_stack(model, "model.layers.0.mlp", ExpertMatrix::kDown,
                                       shape.experts, shape.hidden, shape.expert_intermediate);
  ASSERT_TRUE(stack.ok()) << stack.error().message;
  EXPECT_EQ(stack.value().first.bits, 8);
}

// A row that is no multiple of the group stays as it is: experts of width 64 in groups of 128.
TEST(SynthVariants, RowsThatNoGroupDividesStayUnquantised) {
  const SynthShape shape = micro_shape("micro-moe16");
  Checkpoint model = make_and_read(shape, {.group = 128});
  const MatrixView down = matrix(model, "model.layers.0.mlp.shared_expert.down_proj", shape.hidden,
                                 shape.expert_intermediate);
  EXPECT_EQ(down.encoding, Encoding::kDense);
  const MatrixView up = matrix(model, "model.layers.0.mlp.shared_expert.up_proj",
                               shape.expert_intermediate, shape.hidden);
  EXPECT_EQ(up.group, 128);
}

}  // namespace
}  // namespace lockstep
