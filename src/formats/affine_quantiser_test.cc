#include "formats/affine_quantiser.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "base/json.h"
#include "formats/matrix.h"

namespace lockstep {
namespace {

struct Quantised {
  std::vector<std::byte> packed, scales, biases;
  bool ok = false;
};

Quantised quantise(const std::vector<float>& row, const AffineFormat& format) {
  Quantised out;
  const size_t groups = row.size() / static_cast<size_t>(format.group);
  out.packed.resize(row.size() * static_cast<size_t>(format.bits) / 8);
  out.scales.resize(groups * size_of(format.scales));
  out.biases.resize(groups * size_of(format.scales));
  out.ok =
      quantise_affine_row(row, format, out.packed.data(), out.scales.data(), out.biases.data());
  return out;
}

std::vector<AffineFormat> all_formats() {
  std::vector<AffineFormat> formats;
  for (const DType dtype : {DType::kF32, DType::kF16, DType::kBF16}) {
    for (const int bits : {2, 3, 4, 5, 6, 8}) {
      for (const int group : {32, 64, 128}) formats.push_back({bits, group, dtype});
    }
  }
  return formats;
}

std::vector<std::byte> from_hex(const json::value& text) {
  const std::string_view hex = text.as_string();
  std::vector<std::byte> bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes.push_back(static_cast<std::byte>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16)));
  }
  return bytes;
}

TEST(AffineQuantiser, GivesTheBytesOfMlx) {
  std::ifstream file(LOCKSTEP_SOURCE_DIR "/tests/golden/affine_quantiser.json");
  std::stringstream text;
  text << file.rdbuf();
  const Result<json::value> figures = parse_json(text.str(), "affine_quantiser.json");
  ASSERT_TRUE(figures.ok());
  const std::vector<std::byte> bytes = from_hex(figures.value().at("row"));
  std::vector<float> row(bytes.size() / sizeof(float));
  std::memcpy(row.data(), bytes.data(), bytes.size());
  const json::array& cases = figures.value().at("cases").as_array();
  const std::vector<AffineFormat> formats = all_formats();
  ASSERT_EQ(cases.size(), formats.size());
  for (size_t i = 0; i < formats.size(); ++i) {
    const Quantised ours = quantise(row, formats[i]);
    ASSERT_EQ(cases[i].at("bits").as_int64(), formats[i].bits);
    ASSERT_EQ(cases[i].at("group").as_int64(), formats[i].group);
    ASSERT_EQ(cases[i].at("dtype").as_string(), to_string(formats[i].scales));
    EXPECT_TRUE(ours.ok);
    EXPECT_EQ(ours.packed, from_hex(cases[i].at("packed"))) << dump_json(cases[i]);
    EXPECT_EQ(ours.scales, from_hex(cases[i].at("scales"))) << dump_json(cases[i]);
    EXPECT_EQ(ours.biases, from_hex(cases[i].at("biases"))) << dump_json(cases[i]);
  }
}

// Half a step from rounding; up to a whole one at the narrower end, where fitting the step to the
// wider end may clamp; and the rounding of the stored scale and bias.
TEST(AffineQuantiser, LosesAtMostAStep) {
  std::mt19937 random(3);
  std::normal_distribution<float> normal(0.1f, 0.7f);
  for (const AffineFormat& format : all_formats()) {
    std::vector<float> row(384);
    for (float& value : row) value = normal(random);
    const Quantised quantised = quantise(row, format);
    ASSERT_TRUE(quantised.ok);
    const MatrixView view{.encoding = Encoding::kAffine,
                          .dtype = format.scales,
                          .bits = format.bits,
                          .group = format.group,
                          .rows = 1,
                          .cols = 384,
                          .data = quantised.packed.data(),
                          .scales = quantised.scales.data(),
                          .biases = quantised.biases.data()};
    std::vector<float> decoded(row.size());
    decode_row(view, 0, decoded.data());
    const float levels = static_cast<float>((1 << format.bits) - 1);
    for (size_t begin = 0; begin < row.size(); begin += static_cast<size_t>(format.group)) {
      const auto [low, high] = std::minmax_element(
          row.begin() + static_cast<std::ptrdiff_t>(begin),
          row.begin() + static_cast<std::ptrdiff_t>(begin + static_cast<size_t>(format.group)));
      const float step = (*high - *low) / levels;
      const float edge = std::max(std::fabs(*low), std::fabs(*high));
      const float bound = 1.01f * step + (*high - *low + edge) * 0x1p-8f;
      for (size_t k = begin; k < begin + static_cast<size_t>(format.group); ++k) {
        EXPECT_LE(std::fabs(decoded[k] - row[k]), bound) << format.bits << " " << format.group;
      }
    }
  }
}

TEST(AffineQuantiser, RefusesWhatIsNotFinite) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const float bad : {std::nanf(""), kInfinity, -kInfinity}) {
    std::vector<float> row(64, 0.5f);
    row[40] = bad;
    EXPECT_FALSE(quantise(row, {4, 32, DType::kBF16}).ok);
  }
  const std::vector<float> large(64, 70000.0f);  // beyond F16
  EXPECT_FALSE(quantise(large, {4, 64, DType::kF16}).ok);
  EXPECT_TRUE(quantise(large, {4, 64, DType::kBF16}).ok);
  std::vector<float> widest(64, 3.0e38f);  // the range overflows
  widest[1] = -3.0e38f;
  EXPECT_FALSE(quantise(widest, {8, 64, DType::kF32}).ok);
}

TEST(AffineQuantiser, KnowsItsFormats) {
  EXPECT_TRUE(is_valid({5, 128, DType::kF32}));
  for (const AffineFormat& format :
       {AffineFormat{1, 64, DType::kBF16}, AffineFormat{7, 64, DType::kBF16},
        AffineFormat{16, 64, DType::kBF16}, AffineFormat{4, 16, DType::kBF16},
        AffineFormat{4, 0, DType::kBF16}, AffineFormat{4, 64, DType::kU8}}) {
    EXPECT_FALSE(is_valid(format)) << format.bits << " " << format.group;
  }
}

}  // namespace
}  // namespace lockstep
