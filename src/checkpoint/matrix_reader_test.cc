// Weights by name: every form in every size, and every disagreement refused.
#include "checkpoint/matrix_reader.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "base/float16.h"
#include "checkpoint/testing/opened.h"

namespace lockstep {
namespace {

// The value of q at [row][k] of an affine matrix, straight from the definition: bits
// [k * bits, (k + 1) * bits) of the row's little-endian stream.
uint32_t packed_value(const std::string& bytes, int64_t row_bytes, int64_t row, int64_t k,
                      int64_t bits) {
  uint32_t value = 0;
  for (int64_t b = 0; b < bits; ++b) {
    const int64_t bit = k * bits + b;
    const auto byte = static_cast<uint8_t>(bytes[static_cast<size_t>(row * row_bytes + bit / 8)]);
    value |= static_cast<uint32_t>((byte >> (bit % 8)) & 1) << b;
  }
  return value;
}

float bf16_at(const std::string& bytes, int64_t index) {
  return bf16_to_float(load_unaligned<uint16_t>(bytes.data() + index * 2));
}

TEST(ReadMatrix, DerivesEveryBitsAndGroupFromTheShapes) {
  for (const int64_t bits : {2, 3, 4, 5, 6, 8}) {
    for (const int64_t group : {32, 64, 128}) {
      const int64_t rows = 5;
      const int64_t cols = 384;
      TestTensors tensors;
      add_affine(tensors, "model.m", {rows}, cols, bits, group, 11);
      MemoryCheckpoint memory(tensors);
      const auto view = read_matrix(memory.checkpoint, "model.m", rows, cols);
      ASSERT_TRUE(view.ok()) << view.error().message;
      EXPECT_EQ(view.value().bits, bits);
      EXPECT_EQ(view.value().group, group);
      std::vector<float> decoded(static_cast<size_t>(cols));
      for (int64_t row = 0; row < rows; ++row) {
        decode_row(view.value(), row, decoded.data());
        for (const int64_t k : {int64_t{0}, int64_t{1}, int64_t{31}, int64_t{200}, cols - 1}) {
          const int64_t at = row * (cols / group) + k / group;
          const auto q = static_cast<float>(
              packed_value(tensors["model.m.weight"].bytes, cols * bits / 8, row, k, bits));
          EXPECT_EQ(decoded[static_cast<size_t>(k)],
                    std::fma(bf16_at(tensors["model.m.scales"].bytes, at), q,
                             bf16_at(tensors["model.m.biases"].bytes, at)));
        }
      }
      for (const char* part : {".weight", ".scales", ".biases"}) {
        EXPECT_TRUE(memory.used(std::string("model.m") + part));
      }
    }
  }
}

TEST(ReadMatrix, ReadsDenseFloats) {
  for (const DType dtype : {DType::kF32, DType::kF16, DType::kBF16}) {
    MemoryCheckpoint memory({{"model.m.weight", random_floats(dtype, {3, 7}, 1)}});
    const auto view = read_matrix(memory.checkpoint, "model.m", 3, 7);
    ASSERT_TRUE(view.ok()) << view.error().message;
    EXPECT_EQ(view.value().encoding, Encoding::kDense);
    EXPECT_EQ(view.value().dtype, dtype);
    EXPECT_TRUE(memory.used("model.m.weight"));
  }
}

TEST(ReadMatrix, ShapeErrorsSayFoundAndExpected) {
  MemoryCheckpoint memory({{"model.m.weight", random_floats(DType::kF32, {3, 7}, 1)}});
  for (const auto& [rows, cols] :
       {std::pair<int64_t, int64_t>{7, 3}, {3, 8}, {4, 7}, {21, 1}, {1, 21}}) {
    const auto view = read_matrix(memory.checkpoint, "model.m", rows, cols);
    expect_error(view, ErrorCode::kBadFile, "stored.model.m.weight");
    expect_error(view, ErrorCode::kBadFile, "[3, 7]");
    expect_error(view, ErrorCode::kBadFile, format_shape({rows, cols}));
  }
  EXPECT_FALSE(memory.used("model.m.weight"));
  expect_error(read_matrix(memory.checkpoint, "model.absent", 3, 7), ErrorCode::kBadFile,
               "model.language_model.absent.weight, language_model.model.absent.weight");
}

TEST(ReadMatrix, AffineShapesMustFit) {
  const auto refused = [](const std::string& part, const TestTensor& tensor) {
    TestTensors tensors;
    add_affine(tensors, "model.m", {4}, 128, 4, 64, 1);
    tensors["model.m" + part] = tensor;
    MemoryCheckpoint memory(tensors);
    expect_error(read_matrix(memory.checkpoint, "model.m", 4, 128), ErrorCode::kBadFile,
                 "model.m" + part);
  };
  refused(".weight", random_words({4, 15}, 1));  // no whole number of bits
  refused(".weight", random_words({4, 4}, 1));   // 1 bit
  refused(".weight", random_words({4, 28}, 1));  // 7 bits
  refused(".weight", random_words({4, 0}, 1));   // nothing
  refused(".weight", random_words({5, 16}, 1));  // rows
  refused(".weight", random_words({64}, 1));     // dimensions
  refused(".weight", random_words({4, 16, 1}, 1));
  refused(".scales", random_floats(DType::kBF16, {4, 3}, 1));
  refused(".scales", random_floats(DType::kBF16, {4, 8}, 1));  // groups of 16
  refused(".scales", random_floats(DType::kBF16, {4, 0}, 1));
  refused(".scales", random_floats(DType::kBF16, {2, 2}, 1));
  refused(".scales", random_words({4, 2}, 1));                 // no float
  refused(".biases", random_floats(DType::kBF16, {4, 4}, 1));  // unlike the scales
  refused(".biases", random_floats(DType::kF32, {4, 2}, 1));
  refused(".weight", random_floats(DType::kF32, {4, 128}, 1));  // dense beside scales
  refused(".weight", {DType::kI32, {4, 16}, std::string(256, 'x')});
}

QuantizationConfig says(const char* text) {
  const json::value root = parse_json(text, "test").value();
  return read_quantization_config(root, "config.json", NameScope::kModel).value();
}

TEST(ReadMatrix, AConfigThatContradictsTheShapesIsAnErrorThatNamesBoth) {
  const struct {
    const char* quantization;
    const char* named;  // empty: agrees
  } cases[] = {
      {R"({"bits": 4, "group_size": 64})", ""},
      {R"({"bits": 4})", ""},
      {R"({"group_size": 64, "mode": "affine"})", ""},
      {R"({"bits": 8, "group_size": 64})", "8 bits"},
      {R"({"bits": 4, "group_size": 32})", "groups of 32"},
      {R"({"bits": 8, "group_size": 32, "model.layers.0.m": {"bits": 4, "group_size": 64}})", ""},
      {R"({"bits": 4, "group_size": 64, "model.layers.0.m": {"bits": 6, "group_size": 64}})",
       "6 bits"},
      {R"({"bits": 4, "group_size": 64, "model.language_model.layers.0.m": {"bits": 6}})",
       "6 bits"},
      {R"({"bits": 8, "group_size": 64, "language_model.model.layers.0.m": {"bits": 4}})", ""},
      {R"({"bits": 4, "group_size": 64, "language_model.model.layers.0.m": false})",
       "not quantised"},
      {R"({"bits": 4, "group_size": 64, "language_model.model.layers.0.m": true})", ""},
      {R"({"bits": 8, "group_size": 64, "language_model.model.layers.0.m": true})", "8 bits"},
      {R"({"bits": 4, "group_size": 64, "model.layers.0.m": {"mode": "mxfp4"}})", "mxfp4"},
      {R"({"bits": 4, "group_size": 64, "model.layers.00.m": {"bits": 6}})", ""},
  };
  for (const auto& item : cases) {
    TestTensors tensors;
    add_affine(tensors, "model.layers.0.m", {4}, 128, 4, 64, 1);
    MemoryCheckpoint memory(tensors);
    memory.checkpoint.quantization =
        says((std::string(R"({"quantization": )") + item.quantization + "}").c_str());
    const auto view = read_matrix(memory.checkpoint, "model.layers.0.m", 4, 128);
    if (item.named[0] == '\0') {
      EXPECT_TRUE(view.ok()) << item.quantization << view.error().message;
      continue;
    }
    ASSERT_FALSE(view.ok()) << item.quantization;
    EXPECT_NE(view.error().message.find(item.named), std::string::npos) << view.error().message;
    EXPECT_NE(view.error().message.find("stored.model.layers.0.m.weight"), std::string::npos);
  }
}

TEST(ReadMatrix, ADenseMatrixThatTheConfigCallsQuantisedIsAnError) {
  for (const char* entry : {R"({"bits": 4, "group_size": 64})", "true"}) {
    MemoryCheckpoint memory({{"model.m.weight", random_floats(DType::kF32, {3, 64}, 1)}});
    memory.checkpoint.quantization =
        says((std::string(R"({"quantization": {"bits": 4, "group_size": 64, "model.m": )") + entry +
              "}}")
                 .c_str());
    expect_error(read_matrix(memory.checkpoint, "model.m", 3, 64), ErrorCode::kBadFile,
                 "not quantised");
  }
}

TEST(ReadMatrix, NamesFormatsThatAreNotReadYet) {
  const TestTensor dense = random_floats(DType::kBF16, {4, 64}, 1);
  const TestTensor bytes{DType::kU8, {4, 2}, std::string(8, 'x')};
  const TestTensor fp8{DType::kF8E4M3, {4, 64}, std::string(256, 'x')};
  const struct {
    TestTensors tensors;
    const char* named;
  } cases[] = {
      {{{"model.m.weight", fp8}, {"model.m.weight_scale_inv", dense}}, "FP8 with block scales"},
      {{{"model.m.weight", fp8}}, "FP8"},
      {{{"model.m.weight_packed", bytes}}, "compressed-tensors"},
      {{{"model.m.qweight", bytes}}, "GPTQ or AWQ"},
      {{{"model.m.weight", bytes}, {"model.m.weight_scale", dense}}, "ModelOpt"},
      {{{"model.m.weight", random_words({4, 8}, 1)}, {"model.m.scales", bytes}}, "mxfp4"},
      {{{"model.m.weight", random_words({4, 8}, 1)}, {"model.m.scales", dense}}, "without biases"},
  };
  for (const auto& item : cases) {
    MemoryCheckpoint memory(item.tensors);
    const auto view = read_matrix(memory.checkpoint, "model.m", 4, 64);
    expect_error(view, ErrorCode::kUnsupported, item.named);
    expect_error(view, ErrorCode::kUnsupported, "use an MLX affine");
  }
}

TEST(ReadMatrix, BlocksOfZeroRowsGiveAWarning) {
  const auto warnings = [](const std::string& module, int64_t first, int64_t count) {
    std::vector<float> values(300 * 8, 1.0f);
    std::fill_n(values.begin() + first * 8, count * 8, 0.0f);
    MemoryCheckpoint memory({{module + ".weight", float_tensor(DType::kBF16, {300, 8}, values)}});
    EXPECT_TRUE(read_matrix(memory.checkpoint, module, 300, 8).ok());
    return memory.checkpoint.warnings;
  };
  for (const int64_t first : {0, 1, 63, 100, 172, 173}) {
    EXPECT_TRUE(mentions(warnings("model.x_proj", first, 127), "are all zero")) << first;
  }
  EXPECT_TRUE(mentions(warnings("model.x_proj", 100, 128), "rows 100 to 227"));
  EXPECT_TRUE(warnings("model.x_proj", 40, 63).empty());
  EXPECT_TRUE(warnings("model.embed_tokens", 0, 300).empty());
}

// Experts hold their index in every element.
std::vector<float> expert_values(int64_t experts, int64_t per_expert, float base) {
  std::vector<float> values;
  for (int64_t e = 0; e < experts; ++e) {
    values.insert(values.end(), static_cast<size_t>(per_expert), base + static_cast<float>(e));
  }
  return values;
}

float first_value(const MatrixView& view, int64_t row) {
  std::vector<float> values(static_cast<size_t>(view.cols));
  decode_row(view, row, values.data());
  return values[0];
}

TEST(ReadExpertStack, SplitsFusedGateAndUp) {
  std::vector<float> fused;
  for (int e = 0; e < 3; ++e) {
    fused.insert(fused.end(), 2 * 4, static_cast<float>(10 + e));
    fused.insert(fused.end(), 2 * 4, static_cast<float>(20 + e));
  }
  MemoryCheckpoint memory(
      {{"model.l.mlp.experts.gate_up_proj", float_tensor(DType::kF32, {3, 4, 4}, fused)},
       {"model.l.mlp.experts.down_proj",
        float_tensor(DType::kF32, {3, 4, 2}, expert_values(3, 8, 30))}});
  Checkpoint& model = memory.checkpoint;
  const auto gate = read_expert_stack(model, "model.l.mlp", ExpertMatrix::kGate, 3, 2, 4);
  const auto up = read_expert_stack(model, "model.l.mlp", ExpertMatrix::kUp, 3, 2, 4);
  const auto down = read_expert_stack(model, "model.l.mlp", ExpertMatrix::kDown, 3, 4, 2);
  ASSERT_TRUE(gate.ok() && up.ok() && down.ok());
  for (int e = 0; e < 3; ++e) {
    EXPECT_EQ(gate.value().at(e).rows, 2);
    EXPECT_EQ(first_value(gate.value().at(e), 1), static_cast<float>(10 + e));
    EXPECT_EQ(first_value(up.value().at(e), 0), static_cast<float>(20 + e));
    EXPECT_EQ(first_value(down.value().at(e), 3), static_cast<float>(30 + e));
  }
  expect_error(read_expert_stack(model, "model.l.mlp", ExpertMatrix::kGate, 4, 2, 4),
               ErrorCode::kBadFile, "[3, 4, 4]");
  expect_error(read_expert_stack(model, "model.other.mlp", ExpertMatrix::kGate, 3, 2, 4),
               ErrorCode::kBadFile, "switch_mlp");
}

TEST(ReadExpertStack, ReadsSwitchedAffineExperts) {
  TestTensors tensors;
  add_affine(tensors, "model.l.mlp.switch_mlp.up_proj", {3, 5}, 64, 6, 32, 4);
  TestTensors alone;  // the middle expert as a matrix of its own
  for (const auto& [name, tensor] : tensors) {
    const size_t part = tensor.bytes.size() / 3;
    alone["model.alone" + name.substr(name.rfind('.'))] = {
        tensor.dtype, {tensor.shape[1], tensor.shape[2]}, tensor.bytes.substr(part, part)};
  }
  tensors.insert(alone.begin(), alone.end());
  MemoryCheckpoint memory(tensors);
  const auto stack =
      read_expert_stack(memory.checkpoint, "model.l.mlp", ExpertMatrix::kUp, 3, 5, 64);
  const auto matrix = read_matrix(memory.checkpoint, "model.alone", 5, 64);
  ASSERT_TRUE(stack.ok()) << stack.error().message;
  ASSERT_TRUE(matrix.ok()) << matrix.error().message;
  std::vector<float> from_stack(64);
  std::vector<float> from_matrix(64);
  for (int64_t row = 0; row < 5; ++row) {
    decode_row(stack.value().at(1), row, from_stack.data());
    decode_row(matrix.value(), row, from_matrix.data());
    EXPECT_EQ(from_stack, from_matrix);
  }
}

TEST(ReadExpertStack, OverridesMayUseTheNamesBeforeConversion) {
  for (const char* name : {"model.language_model.l.mlp.experts.gate_up_proj",
                           "language_model.model.l.mlp.switch_mlp", "model.l.mlp.experts"}) {
    TestTensors tensors;
    add_affine(tensors, "model.layers.l.mlp.switch_mlp.up_proj", {3, 5}, 64, 6, 32, 4);
    MemoryCheckpoint memory(tensors);
    std::string override_name = name;
    override_name.replace(override_name.find(".l."), 3, ".layers.l.");
    memory.checkpoint.quantization = says((R"({"quantization": {"bits": 6, "group_size": 32, ")" +
                                           override_name + R"(": {"bits": 5, "group_size": 32}}})")
                                              .c_str());
    expect_error(
        read_expert_stack(memory.checkpoint, "model.layers.l.mlp", ExpertMatrix::kUp, 3, 5, 64),
        ErrorCode::kBadFile, "5 bits");
  }
}

TEST(ReadExpertStack, TakesSeparateExpertsOnlyAtOneDistance) {
  // One buffer holds all experts, `gaps[e]` rows before each.
  const auto read = [](const std::vector<int64_t>& gaps) {
    std::string bytes;
    std::vector<TensorRecord> records;
    std::vector<size_t> begins;
    for (size_t e = 0; e < gaps.size(); ++e) {
      bytes += std::string(static_cast<size_t>(gaps[e]) * 8, '\0');
      begins.push_back(bytes.size());
      bytes += float_tensor(DType::kF32, {3, 2}, expert_values(1, 6, static_cast<float>(e))).bytes;
    }
    Checkpoint model;
    for (size_t e = 0; e < gaps.size(); ++e) {
      const std::string name = "model.l.mlp.experts." + std::to_string(e) + ".up_proj.weight";
      records.push_back({name,
                         name,
                         "f",
                         DType::kF32,
                         {3, 2},
                         reinterpret_cast<const std::byte*>(bytes.data()) + begins[e],
                         24});
    }
    model.tensors = TensorSource::make(std::move(records)).value();
    model.used.assign(gaps.size(), false);
    const auto count = static_cast<int64_t>(gaps.size());
    auto stack = read_expert_stack(model, "model.l.mlp", ExpertMatrix::kUp, count, 3, 2);
    if (stack.ok()) {
      for (int64_t e = 0; e < count; ++e) {
        EXPECT_EQ(first_value(stack.value().at(e), 2), static_cast<float>(e));
      }
    }
    return stack.ok();
  };
  EXPECT_TRUE(read({0}));
  EXPECT_TRUE(read({0, 0, 0, 0}));
  EXPECT_TRUE(read({1, 2, 2, 2}));
  EXPECT_FALSE(read({0, 1, 2, 1}));
}

TEST(ReadVector, WidensAndAddsOneInFloat32) {
  for (const DType dtype : {DType::kF32, DType::kF16, DType::kBF16}) {
    MemoryCheckpoint memory({{"model.v", float_tensor(dtype, {3}, {-0.5f, 0.0f, 0.00390625f})}});
    EXPECT_EQ(read_vector(memory.checkpoint, "model.v", 3, false).value(),
              (std::vector<float>{-0.5f, 0.0f, 0.00390625f}));
    EXPECT_EQ(read_vector(memory.checkpoint, "model.v", 3, true).value(),
              (std::vector<float>{0.5f, 1.0f, 1.00390625f}));
    EXPECT_TRUE(memory.used("model.v"));
  }
}

TEST(ReadVector, RefusesWrongSizesTypesAndValues) {
  MemoryCheckpoint memory({{"model.v", random_floats(DType::kF32, {3}, 1)},
                           {"model.flat", random_floats(DType::kF32, {1, 3}, 1)},
                           {"model.words", random_words({3}, 1)},
                           {"model.nan", float_tensor(DType::kBF16, {2}, {1.0f, std::nanf("")})},
                           {"model.inf", float_tensor(DType::kF32, {2}, {INFINITY, 1.0f})}});
  Checkpoint& model = memory.checkpoint;
  expect_error(read_vector(model, "model.v", 4, false), ErrorCode::kBadFile, "expected [4]");
  expect_error(read_vector(model, "model.flat", 3, false), ErrorCode::kBadFile, "[1, 3]");
  expect_error(read_vector(model, "model.words", 3, false), ErrorCode::kUnsupported, "U32");
  expect_error(read_vector(model, "model.nan", 2, false), ErrorCode::kNumeric, "element 1");
  expect_error(read_vector(model, "model.inf", 2, false), ErrorCode::kNumeric, "element 0");
  expect_error(read_vector(model, "model.none", 2, false), ErrorCode::kBadFile, "missing");
}

TEST(ReadConvWeight, ReadsTheLayoutOfTheCheckpointOnly) {
  std::vector<float> taps(12);
  for (size_t i = 0; i < taps.size(); ++i) taps[i] = static_cast<float>(i);
  for (const Layout layout : {Layout::kHuggingFace, Layout::kMlx}) {
    const bool mlx = layout == Layout::kMlx;
    const std::vector<int64_t> right =
        mlx ? std::vector<int64_t>{3, 4, 1} : std::vector<int64_t>{3, 1, 4};
    const std::vector<int64_t> other =
        mlx ? std::vector<int64_t>{3, 1, 4} : std::vector<int64_t>{3, 4, 1};
    MemoryCheckpoint memory({{"model.c", float_tensor(DType::kF32, right, taps)},
                             {"model.d", float_tensor(DType::kF32, other, taps)}});
    memory.checkpoint.layout = layout;
    EXPECT_EQ(read_conv_weight(memory.checkpoint, "model.c", 3, 4).value(), taps);
    expect_error(read_conv_weight(memory.checkpoint, "model.d", 3, 4), ErrorCode::kBadFile,
                 format_shape(right));
    expect_error(read_conv_weight(memory.checkpoint, "model.c", 4, 4), ErrorCode::kBadFile,
                 "model.c");
  }
}

}  // namespace
}  // namespace lockstep
