// Hostile containers: every fault is refused with its file and its tensor.
#include "checkpoint/safetensors.h"

#include <gtest/gtest.h>

#include <limits>

#include "checkpoint/testing/test_weights.h"

namespace lockstep {
namespace {

Result<SafetensorsHeader> parse(const std::string& file) {
  return parse_safetensors(std::as_bytes(std::span(file)), "x.safetensors");
}

void expect_refused(const std::string& file, const std::string& named) {
  const auto result = parse(file);
  ASSERT_FALSE(result.ok()) << named;
  EXPECT_TRUE(result.error().message.starts_with("x.safetensors")) << result.error().message;
  EXPECT_NE(result.error().message.find(named), std::string::npos) << result.error().message;
}

std::string entry(const std::string& name, const std::string& dtype, const std::string& shape,
                  const std::string& offsets) {
  return "\"" + name + R"(":{"dtype":)" + dtype + R"(,"shape":)" + shape + R"(,"data_offsets":)" +
         offsets + "}";
}

TEST(Safetensors, ReadsWhatWasWritten) {
  TestTensors tensors;
  tensors["b.weight"] = random_floats(DType::kBF16, {3, 5}, 1);
  tensors["a.bias"] = random_floats(DType::kF32, {7}, 2);
  tensors["scalar"] = float_tensor(DType::kF32, {}, {1.5f});
  tensors["words"] = random_words({2, 2}, 3);
  const std::string file = safetensors_file(tensors, {{"format", "mlx"}});
  const auto header = parse(file);
  ASSERT_TRUE(header.ok()) << header.error().message;
  EXPECT_EQ(header.value().metadata.at("format"), "mlx");
  TestTensors found;
  for (const SafetensorsEntry& item : header.value().entries) {
    found[item.name] = {item.dtype, item.shape, file.substr(item.begin, item.bytes)};
  }
  EXPECT_EQ(found, tensors);
}

TEST(Safetensors, ReadsEveryDtypeByItsSize) {
  for (const DType dtype :
       {DType::kF64, DType::kF32, DType::kF16, DType::kBF16, DType::kF8E4M3, DType::kF8E8M0,
        DType::kI64, DType::kI32, DType::kI8, DType::kU32, DType::kU8, DType::kBool}) {
    const TestTensor tensor{dtype, {3}, std::string(3 * size_of(dtype), '\1')};
    const auto header = parse(safetensors_file({{"t", tensor}}));
    ASSERT_TRUE(header.ok()) << header.error().message;
    EXPECT_EQ(header.value().entries[0].dtype, dtype);
  }
  for (const char* dtype : {"\"F4\"", "\"f32\"", "\"\"", "\"U16\"", "\"C64\""}) {
    expect_refused(raw_safetensors("{" + entry("t", dtype, "[0]", "[0,0]") + "}", ""), "dtype");
  }
}

TEST(Safetensors, RefusesFilesCutAtEveryByte) {
  const std::string file = safetensors_file(
      {{"t", random_floats(DType::kF32, {2, 3}, 1)}, {"u", random_floats(DType::kBF16, {4}, 2)}});
  for (size_t size = 0; size < file.size(); ++size) {
    EXPECT_FALSE(parse(file.substr(0, size)).ok()) << size;
  }
  EXPECT_TRUE(parse(file).ok());
}

TEST(Safetensors, RefusesHeaderLengthsThatTheFileCannotHold) {
  const std::string good = raw_safetensors("{}", "");
  EXPECT_TRUE(parse(good).ok());
  for (const uint64_t length :
       {uint64_t{3}, uint64_t{1} << 20, kMaxSafetensorsHeader, kMaxSafetensorsHeader + 1,
        uint64_t{1} << 32, uint64_t{1} << 63, (uint64_t{1} << 63) - 8,
        std::numeric_limits<uint64_t>::max(), std::numeric_limits<uint64_t>::max() - 7}) {
    std::string file = good;
    file.replace(0, 8, std::string(reinterpret_cast<const char*>(&length), 8));
    expect_refused(file, "header");
  }
}

TEST(Safetensors, RefusesHeadersThatAreNotAnObjectOfTensors) {
  for (const char* header :
       {"", "[]", "null", "{", "{}x", "{\"t\":1}", "{\"t\":null}", "{\"t\":[]}", "{\"t\":{}}",
        "\xff\xfe", "{\"__metadata__\":3}", "{\"__metadata__\":{\"a\":3}}"}) {
    EXPECT_FALSE(parse(raw_safetensors(header, "")).ok()) << header;
  }
  std::string deep;
  for (int i = 0; i < 100000; ++i) deep += "{\"a\":";
  EXPECT_FALSE(parse(raw_safetensors(deep, "")).ok());
}

TEST(Safetensors, RefusesOneNameTwice) {
  const std::string one = entry("t", "\"U8\"", "[1]", "[0,1]");
  const std::string two = entry("t", "\"U8\"", "[1]", "[1,2]");
  expect_refused(raw_safetensors("{" + one + "," + two + "}", "ab"), "t");
}

TEST(Safetensors, RefusesNamesThatCannotBeShown) {
  for (const char* name : {"", "a b", "tab\\t", "\\u001b[31m", "caf\xc3\xa9"}) {
    EXPECT_FALSE(
        parse(raw_safetensors("{" + entry(name, "\"U8\"", "[1]", "[0,1]") + "}", "a")).ok())
        << name;
  }
  const std::string longest(512, 'a');
  EXPECT_TRUE(
      parse(raw_safetensors("{" + entry(longest, "\"U8\"", "[1]", "[0,1]") + "}", "a")).ok());
  EXPECT_FALSE(
      parse(raw_safetensors("{" + entry(longest + "a", "\"U8\"", "[1]", "[0,1]") + "}", "a")).ok());
}

TEST(Safetensors, RefusesBadShapesAndOffsets) {
  const struct {
    const char* shape;
    const char* offsets;
  } faults[] = {
      {"[4]", "[0,3]"},   // wrong size
      {"[4]", "[0,5]"},   // wrong size
      {"[4]", "[4,0]"},   // backwards
      {"[4]", "[8,12]"},  // beyond the end
      {"[4]", "[0,9223372036854775807]"},
      {"[4]", "[0,18446744073709551615]"},
      {"[4]", "[18446744073709551612,18446744073709551616]"},
      {"[4]", "[-4,0]"},
      {"[4]", "[0.0,4.0]"},
      {"[4]", "[\"0\",\"4\"]"},
      {"[4]", "[0]"},
      {"[4]", "[0,4,8]"},
      {"[4]", "4"},
      {"[4]", "null"},
      {"[-4]", "[0,4]"},
      {"[4.0]", "[0,4]"},
      {"4", "[0,4]"},
      {"null", "[0,4]"},
      {"{}", "[0,4]"},
      {"[9223372036854775807,2]", "[0,4]"},
      {"[4294967296,4294967296]", "[0,0]"},  // 2^64: wraps to 0
      {"[4611686018427387905,4]", "[0,4]"},  // 2^64 + 4: wraps to 4
      {"[1,1,1,1,1,1,1,1,4]", "[0,4]"},
  };
  for (const auto& fault : faults) {
    const std::string header = "{" + entry("model.t", "\"U8\"", fault.shape, fault.offsets) + "}";
    expect_refused(raw_safetensors(header, "abcdefgh"), "model.t");
  }
}

TEST(Safetensors, RefusesOverlapsInAnyOrder) {
  const std::string whole = entry("whole", "\"U8\"", "[8]", "[0,8]");
  const std::string front = entry("front", "\"U8\"", "[3]", "[0,3]");
  const std::string inner = entry("inner", "\"U8\"", "[1]", "[7,8]");
  for (const std::string& header : {whole + "," + front, front + "," + whole, inner + "," + whole,
                                    front + "," + front.substr(0, 1) + "copy" + front.substr(6)}) {
    expect_refused(raw_safetensors("{" + header + "}", "abcdefgh"), "overlap");
  }
  EXPECT_TRUE(parse(raw_safetensors("{" + inner + "," + front + "}", "abcdefgh")).ok());
}

TEST(Safetensors, EmptyTensorsOverlapNothing) {
  const std::string header = "{" + entry("none", "\"F32\"", "[0,7]", "[2,2]") + "," +
                             entry("all", "\"U8\"", "[4]", "[0,4]") + "}";
  EXPECT_TRUE(parse(raw_safetensors(header, "abcd")).ok());
}

}  // namespace
}  // namespace lockstep
