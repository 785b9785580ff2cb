// Counters of a server in Prometheus' text form.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/stream_engine.h"

namespace lockstep {

class Metrics {
 public:
  // `labels` as they stand between the braces: code="200".
  void count(std::string_view name, std::string_view labels, double by = 1.0);
  void count(std::string_view name, double by = 1.0) { count(name, "", by); }
  // Into a histogram of seconds.
  void observe(std::string_view name, double seconds);

  // With the engine's figures.
  std::string render(const EngineFigures& figures) const;

 private:
  struct Histogram {
    std::vector<uint64_t> buckets;
    uint64_t count = 0;
    double sum = 0.0;
  };

  mutable std::mutex mutex_;
  std::map<std::string, std::map<std::string, double>> counters_;
  std::map<std::string, Histogram> histograms_;
};

}  // namespace lockstep
