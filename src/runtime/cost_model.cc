#include "runtime/cost_model.h"

#include <algorithm>
#include <bit>

#include "base/check.h"

namespace lockstep {

size_t CostModel::bucket_of(int64_t rows) {
  const auto value = static_cast<uint64_t>(rows);
  const auto whole = static_cast<size_t>(std::bit_width(value)) - 1;  // floor(log2)
  // In the upper half of the octave if rows^2 >= 2^(2 whole + 1).
  const bool upper = whole < 31 && value * value >= uint64_t{1} << (2 * whole + 1);
  return std::min(2 * whole + (upper ? 1 : 0), kBuckets - 1);
}

void CostModel::record(int64_t rows, double seconds) {
  LOCKSTEP_CHECK(rows >= 1 && seconds >= 0.0, "a round of at least one row");
  Bucket& bucket = buckets_[bucket_of(rows)];
  const double share = bucket.rows == 0.0 ? 1.0 : kNewShare;
  bucket.rows += share * (static_cast<double>(rows) - bucket.rows);
  bucket.seconds += share * (seconds - bucket.seconds);
}

bool CostModel::measured() const {
  return std::any_of(buckets_.begin(), buckets_.end(), [](const Bucket& b) { return b.rows > 0; });
}

double CostModel::estimate(int64_t rows) const {
  if (rows <= 0) return 0.0;
  const auto wanted = static_cast<double>(rows);
  const Bucket* below = nullptr;
  for (const Bucket& bucket : buckets_) {
    if (bucket.rows == 0.0) continue;
    if (bucket.rows > wanted) {
      if (below == nullptr) {
        return bucket.seconds * (wanted + kWeightRows) / (bucket.rows + kWeightRows);
      }
      const double way = (wanted - below->rows) / (bucket.rows - below->rows);
      return below->seconds + way * (bucket.seconds - below->seconds);
    }
    below = &bucket;
  }
  return below == nullptr ? 0.0 : below->seconds * wanted / below->rows;
}

}  // namespace lockstep
