#include "apps/bench_report.h"

#include <gtest/gtest.h>

#include "base/json.h"

namespace lockstep {
namespace {

BenchReport sample() {
  BenchReport report;
  report.model = "m";
  report.machine = {.cpu = "CPU",
                    .usable_cpus = 4,
                    .memory = 8,
                    .system = "Linux 6",
                    .build = "GNU 12, Release",
                    .load = 0.25};
  report.threads = 2;
  report.load_seconds = 0.5;
  report.prefill = {
      {.length = 512, .rate = {.median = 1234.4, .low = 1200, .high = 1300, .count = 5}}};
  report.decode = {{.depth = 64,
                    .streams = 8,
                    .rate = {.median = 60.5, .low = 60, .high = 61, .count = 5},
                    .traffic = {.weights = 100, .state = 20, .kv = 3},
                    .limit = bench::Spread{.median = 2e10, .low = 1e10, .high = 3e10, .count = 5},
                    .share = bench::Spread{.median = 0.874, .low = 0.8, .high = 0.9, .count = 5}}};
  report.memory = bench::ProcessMemory{.anonymous = 3 << 20, .mapped = 5 << 20};
  report.plan = {.weights = 5 << 20, .kv = 1 << 20, .state = 1 << 20, .workspace = 1 << 20};
  return report;
}

TEST(BenchReport, TextHasARowPerCase) {
  EXPECT_EQ(
      bench_text(sample()),
      "model                   m\n"
      "machine                 CPU, 4 usable, load 0.25, Linux 6, GNU 12, Release\n"
      "runs on                 2 threads, scalar\n"
      "load to first token         0.500 s\n"
      "prefill of 512               1234 tok/s  [1200, 1300]\n"
      "decode at 64, 8 streams     60.50 tok/s  [60.00, 61.00]  87 % of 20.0 GB/s read  [80, 90]\n"
      "memory                  3.0 MiB anonymous (planned 3.0 MiB), 5.0 MiB mapped (planned 5.0 "
      "MiB)\n");
}

TEST(BenchReport, JsonHoldsEveryFigure) {
  const json::value value = parse_json(bench_json(sample()), "report").value();
  EXPECT_EQ(value.at_pointer("/machine/cpu").as_string(), "CPU");
  EXPECT_EQ(value.at_pointer("/prefill/0/tokens_per_second/median").as_double(), 1234.4);
  EXPECT_EQ(value.at_pointer("/decode/0/streams").to_number<int>(), 8);
  EXPECT_EQ(value.at_pointer("/decode/0/bytes_per_round/state").as_double(), 20.0);
  EXPECT_EQ(value.at_pointer("/decode/0/share_of_read_bandwidth/low").as_double(), 0.8);
  EXPECT_EQ(value.at_pointer("/memory/planned_anonymous").to_number<int>(), 3 << 20);
}

TEST(BenchReport, WhatWasNotMeasuredIsNotSaid) {
  BenchReport report = sample();
  report.decode[0].limit = report.decode[0].share = std::nullopt;
  report.memory = std::nullopt;
  EXPECT_EQ(bench_text(report).find(" % of "), std::string::npos);
  EXPECT_NE(bench_text(report).find("does not say"), std::string::npos);
  const json::value value = parse_json(bench_json(report), "report").value();
  EXPECT_TRUE(value.at("memory").is_null());
  EXPECT_FALSE(value.at_pointer("/decode/0").as_object().contains("share_of_read_bandwidth"));
}

}  // namespace
}  // namespace lockstep
