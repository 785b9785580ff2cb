// What ops launched, for checks of coverage: which kernel, at which shape class.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace lockstep {

// A shape without its rows: what a kernel's contract is stated and checked for. `dims` are the
// integers that decide it, in the order that the op lists them; one that codes something (an
// encoding) is named with a leading dot, and `label`, no part of the identity, says it in words.
struct ShapeClass {
  using Dim = std::pair<const char*, int64_t>;

  std::string op;
  std::vector<Dim> dims;
  std::string label = {};

  // The named integer. The class must have it.
  int64_t at(const char* name) const;
  // "linear [4 bits, group 64, scales BF16, int8] n=3584 k=1024"; coded dims are left to the label.
  std::string to_string() const;
  // Identity as one line, every dim of it: "linear encoding=1 ... n=3584 k=1024".
  std::string key() const;
};

// Distinct launches, each with how often it happened. Ops are launched by one thread at a time, but
// several contexts may share a log.
class LaunchLog {
 public:
  struct Launch {
    std::string kernel;  // of the registry row: "linear_int8_tile_avx2"
    ShapeClass shape;
    int64_t count = 0;
  };

  void record(const char* kernel, const ShapeClass& shape);
  std::vector<Launch> launches() const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, Launch> launches_;
};

}  // namespace lockstep
