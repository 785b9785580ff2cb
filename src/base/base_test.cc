#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <limits>
#include <vector>

#include "base/buffer.h"
#include "base/float16.h"
#include "base/isa.h"
#include "base/json.h"
#include "base/result.h"
#include "base/thread_pool.h"

namespace lockstep {
namespace {

TEST(Bf16, RoundTripsEveryPattern) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const float value = bf16_to_float(static_cast<uint16_t>(bits));
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(bf16_to_float(float_to_bf16(value))));
    } else {
      EXPECT_EQ(float_to_bf16(value), bits);
    }
  }
}

TEST(Bf16, RoundsTiesToEven) {
  EXPECT_EQ(float_to_bf16(1.0f + 0x1p-8f), 0x3f80);             // tie, even below
  EXPECT_EQ(float_to_bf16(1.0f + 0x1p-8f + 0x1p-20f), 0x3f81);  // past the tie
  EXPECT_EQ(float_to_bf16(1.0f + 0x1p-7f + 0x1p-8f), 0x3f82);   // tie, even above
  EXPECT_EQ(float_to_bf16(std::numeric_limits<float>::max()), 0x7f80);
}

TEST(F16, AgreesWithTheCompilersHalf) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const float value = f16_to_float(static_cast<uint16_t>(bits));
    _Float16 half;
    std::memcpy(&half, &bits, sizeof(half));
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(static_cast<float>(half)));
    } else {
      EXPECT_EQ(value, static_cast<float>(half));
      EXPECT_EQ(float_to_f16(value), bits);
    }
  }
  for (float value : {1.0f + 0x1p-11f, 1.0f + 0x1p-11f + 0x1p-20f, 65519.0f, 65520.0f, 0x1p-25f,
                      0x1.8p-25f, 0x1.ffcp-15f, 0x1.fffp-15f, 3e-8f, -1e-5f}) {
    const auto half = static_cast<_Float16>(value);
    uint16_t bits;
    std::memcpy(&bits, &half, sizeof(bits));
    EXPECT_EQ(float_to_f16(value), bits) << value;
  }
}

TEST(ThreadPool, RunsEveryTaskOnce) {
  for (int threads : {1, 2, 3, 7}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.threads(), threads);
    for (int64_t count : {0, 1, 2, 5, 1000}) {
      std::vector<std::atomic<int>> runs(static_cast<size_t>(count));
      for (int repeat = 0; repeat < 50; ++repeat) {
        pool.run(count, [&](int64_t index, int thread) {
          ASSERT_GE(thread, 0);
          ASSERT_LT(thread, threads);
          runs[static_cast<size_t>(index)].fetch_add(1);
        });
      }
      for (const auto& n : runs) EXPECT_EQ(n.load(), 50);
    }
  }
}

TEST(Result, CarriesValueOrError) {
  const auto half = [](int n) -> Result<int> {
    if (n % 2 != 0) return Error{ErrorCode::kInvalidArgument, "odd"};
    return n / 2;
  };
  const auto quarter = [&](int n) -> Result<int> {
    LOCKSTEP_ASSIGN_OR_RETURN(const int h, half(n));
    return half(h);
  };
  EXPECT_EQ(quarter(8).value(), 2);
  EXPECT_EQ(quarter(6).error().message, "odd");
}

TEST(Json, WritesWhatPythonWrites) {
  const auto value = parse_json(
      R"({"b": [1, 2.0, 1e-5, 1e16, 0.1, -0.0, true, null], "a": {}, "é\n\u0001": "\""})", "text");
  ASSERT_TRUE(value.ok());
  EXPECT_EQ(dump_json(value.value()),
            "{\"b\": [1, 2.0, 1e-05, 1e+16, 0.1, -0.0, true, null], \"a\": {}, "
            "\"é\\n\\u0001\": \"\\\"\"}");
  EXPECT_EQ(dump_json(parse_json("[1,[]]", "t").value(), 2), "[\n  1,\n  []\n]");
}

TEST(Json, RefusesWhatHasTwoReadings) {
  const std::string deep(65, '[');
  for (const std::string& text :
       {std::string(R"({"a": 1, "b": {"a": 1, "a": 2}})"), std::string(R"({"a":1} x)"),
        std::string("[NaN]"), std::string("[1e999]"), std::string("{'a': 1}"), std::string(""),
        deep + std::string(65, ']'), std::string("\"\xff\"")}) {
    EXPECT_FALSE(parse_json(text, "text").ok()) << text;
  }
  EXPECT_NE(parse_json(R"({"a": 1, "a": 2})", "f.json").error().message.find("f.json"),
            std::string::npos);
}

TEST(Isa, NamesRoundTrip) {
  EXPECT_TRUE(isa_available(Isa::kScalar));
  EXPECT_TRUE(isa_available(best_isa()));
  EXPECT_EQ(parse_isa("avx2"), Isa::kAvx2);
  EXPECT_FALSE(parse_isa("sse9"));
}

}  // namespace
}  // namespace lockstep
