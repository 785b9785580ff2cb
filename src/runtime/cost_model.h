// What a round costs by the number of its rows, learned from the rounds that were run: data for the
// scheduler, which chooses by it how many rows a round gets. No bit depends on it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace lockstep {

class CostModel {
 public:
  // A round of `rows` rows (at least 1) took `seconds`.
  void record(int64_t rows, double seconds);

  bool measured() const;
  // Seconds of a round; 0 for no rows and before anything was measured. Straight lines between what
  // was measured; beyond it in proportion to the rows, which is on the careful side; below it, as
  // if the weights alone cost as much as kWeightRows rows.
  double estimate(int64_t rows) const;

 private:
  static constexpr double kWeightRows = 4.0;
  static constexpr double kNewShare = 0.25;  // of a new measurement in the mean
  // Bucket i holds rounds of [2^(i/2), 2^((i+1)/2)) rows.
  static constexpr size_t kBuckets = 32;

  struct Bucket {
    double rows = 0.0;  // means; 0: nothing measured
    double seconds = 0.0;
  };
  static size_t bucket_of(int64_t rows);

  std::array<Bucket, kBuckets> buckets_ = {};
};

}  // namespace lockstep
