// One seeded instance of an op as the contract runner sees it: streams of rows, a way to compute
// any of them in any grouping, and what they should be.
//
// Rows belong to streams. For most ops a stream is only a set of rows; for ops with state (a
// recurrence, a cache) it is a sequence, whose rows come in order. Values, bounds and bits of a row
// may depend on its own stream alone.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "kernels/contract/guarded.h"
#include "kernels/contract/random.h"
#include "kernels/cpu_context.h"

namespace lockstep::contract {

enum class Inputs : uint8_t {
  kPlain,      // as a model makes them
  kSpoilt,     // the same, but all of stream kSpoiltStream is NaN
  kStress,     // sums of many like terms: a sum in a narrow type misses the bound
  kNonFinite,  // NaN and infinities strewn over every stream
};
inline constexpr int64_t kSpoiltStream = 2;

struct ProblemOptions {
  Inputs inputs = Inputs::kPlain;
  uint64_t seed = 1;
  std::vector<int64_t> rows;  // of each stream

  int64_t streams() const { return static_cast<int64_t>(rows.size()); }
  int64_t total() const;
  // Row of the first row of a stream where all streams stand one after another.
  int64_t first(int64_t stream) const;
};

// Rows [begin, end) of a stream.
struct Segment {
  int64_t stream = 0;
  int64_t begin = 0;
  int64_t end = 0;

  int64_t rows() const { return end - begin; }
};
int64_t rows_of(std::span<const Segment> segments);

// One result of an op. All are compared as float32, which holds every integer that ops give.
struct OutputSpec {
  std::string name;
  int64_t width = 0;        // values per row, or per stream
  bool per_stream = false;  // state: one call reads what the last one wrote
};

// What one call writes: guarded memory for each output, [rows of the call, width], or [segments,
// width] for state.
class CallOutputs {
 public:
  CallOutputs(std::span<const OutputSpec> specs, std::span<const Segment> segments);

  float* data(size_t output) { return guarded_[output].data(); }
  Guarded& guarded(size_t output) { return guarded_[output]; }
  // State that a stream has before the call, [width].
  const float* before(size_t output, size_t segment) const { return before_[output][segment]; }
  void set_before(size_t output, size_t segment, const float* state) {
    before_[output][segment] = state;
  }
  // For outputs that are no float32 and that the problem guards itself.
  void fail(std::string message) {
    if (error_.empty()) error_ = std::move(message);
  }
  // Empty, or the first write outside, missing write, or failure.
  std::string check() const;

 private:
  std::vector<std::string> names_;
  std::vector<Guarded> guarded_;
  std::vector<std::vector<const float*>> before_;
  std::string error_;
};

// What some outputs should be. `index` counts through an output's values, all streams one after
// another.
struct Expected {
  struct Value {
    size_t output = 0;
    int64_t index = 0;
    double want = 0.0;
    double bound = 0.0;  // 0: the very value
  };
  std::vector<Value> values;

  void add(size_t output, std::span<const double> want, std::span<const double> bound);
  // Rounded to float32: for outputs that are bit-exact.
  void add_exact(size_t output, std::span<const double> want);
};

enum class Narrow : uint8_t { kBf16, kF16 };
float narrowed(Narrow type, double value);

class Problem {
 public:
  explicit Problem(ProblemOptions options) : options_(std::move(options)) {}
  virtual ~Problem() = default;

  const ProblemOptions& options() const { return options_; }
  virtual std::vector<OutputSpec> outputs() const = 0;
  // Forgets what earlier calls stored.
  virtual void begin() {}
  // State of a stream before its first row, [width].
  virtual std::span<const float> initial(size_t /*output*/, int64_t /*stream*/) const { return {}; }
  // Ways of calling the op that must agree in every bit (with a workspace and without, ...).
  virtual int ways() const { return 1; }
  virtual void call(const CpuContext& context, std::span<const Segment> segments, int way,
                    CallOutputs& out) = 0;
  // By float64, of about `most` values where every one would take too long.
  virtual Expected reference(int64_t most) const = 0;
  // The stress inputs by a twin that keeps its sums in `type`, in the op's order; in the order of
  // `expected`. By default the exact result rounded to the type: an op without a sum has no other.
  virtual std::vector<double> twin(Narrow type, const Expected& expected) const;

 protected:
  bool stress() const { return options_.inputs == Inputs::kStress; }
  int64_t total() const { return options_.total(); }
  // [rows of the call, width] out of [total, width].
  template <typename T>
  std::vector<T> gather(const std::vector<T>& x, int64_t width,
                        std::span<const Segment> segments) const {
    std::vector<T> rows;
    rows.reserve(static_cast<size_t>(rows_of(segments) * width));
    for (const Segment& segment : segments) {
      const int64_t first = options_.first(segment.stream);
      rows.insert(rows.end(), x.begin() + (first + segment.begin) * width,
                  x.begin() + (first + segment.end) * width);
    }
    return rows;
  }
  // Makes [total, width] what the kind of inputs asks for: NaN in the spoilt stream, or NaN and
  // infinities in some rows.
  void disturb(std::vector<float>& x, int64_t width) const;

 private:
  ProblemOptions options_;
};

// Normal values, the rows of very different sizes.
std::vector<float> rows_of_all_sizes(int64_t rows, int64_t width, uint64_t seed);

// Stress values for a sum whose terms are x * y: of one size and sign, each a little off what a
// narrow type can add without error.
std::vector<float> like_terms(int64_t rows, int64_t width, uint64_t seed);

// term(0) + term(1) + ..., each sum rounded to `type`.
template <typename Term>
double narrow_chain(Narrow type, int64_t n, const Term& term) {
  double sum = 0.0;
  for (int64_t k = 0; k < n; ++k) sum = narrowed(type, sum + term(k));
  return sum;
}

// The same in 16 lanes, term k in lane k mod 16, and the tree 16-8-4-2-1.
template <typename Term>
double narrow_lane_sum(Narrow type, int64_t n, const Term& term) {
  double lanes[16] = {};
  for (int64_t k = 0; k < n; ++k) lanes[k % 16] = narrowed(type, lanes[k % 16] + term(k));
  for (int half = 8; half >= 1; half /= 2) {
    for (int i = 0; i < half; ++i) lanes[i] = narrowed(type, lanes[i] + lanes[i + half]);
  }
  return lanes[0];
}

}  // namespace lockstep::contract
