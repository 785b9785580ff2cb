// What every part of the study uses: device memory, random data, timing with its spread, figures
// against float64, comparison of bits.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"

namespace lockstep::gpu_study {

// Ends the study with a message on failure: a study has nothing to recover.
void require(const Status& status);
void require(cudaError_t error, const char* what);

template <typename T>
class DeviceArray {
 public:
  DeviceArray() = default;
  explicit DeviceArray(size_t count) : count_(count) {
    require(cudaMalloc(&data_, count * sizeof(T) + 256), "cudaMalloc");
  }
  DeviceArray(DeviceArray&& other) noexcept { swap(other); }
  DeviceArray& operator=(DeviceArray&& other) noexcept {
    swap(other);
    return *this;
  }
  ~DeviceArray() { cudaFree(data_); }

  T* data() const { return data_; }
  size_t size() const { return count_; }
  size_t bytes() const { return count_ * sizeof(T); }
  std::vector<T> host(size_t first, size_t count) const {
    std::vector<T> out(count);
    require(cudaMemcpy(out.data(), data_ + first, count * sizeof(T), cudaMemcpyDeviceToHost),
            "copy");
    return out;
  }
  std::vector<T> host() const { return host(0, count_); }
  void set(const std::vector<T>& values) {
    require(cudaMemcpy(data_, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice),
            "copy");
  }
  // Every byte 0xff: NaN as float or bf16, so that an element nobody wrote is seen.
  void poison() { require(cudaMemset(data_, 0xff, bytes()), "cudaMemset"); }

 private:
  void swap(DeviceArray& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(count_, other.count_);
  }
  T* data_ = nullptr;
  size_t count_ = 0;
};

cudaStream_t study_stream();

// Random bits; bf16 in [low, high); float32 normal values, every 97th column scaled by `outlier`.
void fill_bits(uint32_t* out, size_t count, uint64_t seed);
void fill_bf16(uint16_t* out, size_t count, float low, float high, uint64_t seed);
void fill_normal(float* out, size_t count, float scale, float outlier, uint64_t seed);
void fill_uniform(float* out, size_t count, float low, float high, uint64_t seed);
// Columns [begin, end) of `rows` rows times `factor`.
void scale_columns(float* matrix, size_t rows, size_t columns, size_t begin, size_t end,
                   float factor);
void fill_normal_bf16(uint16_t* out, size_t count, float scale, uint64_t seed);

// Words that differ.
uint64_t count_differences(const void* a, const void* b, size_t words);

struct Timing {
  double median = 0, least = 0, most = 0;  // microseconds
};

// Times `repeats` runs of body(i), each `inner` captured launches of one graph, per launch.
Timing time_graph(int inner, int repeats, const std::function<void(int)>& body);
// Times single runs by events.
Timing time_each(int repeats, const std::function<void()>& body);

// || out - ref || / || ref ||; NaN when any output is not finite.
double relative_error(const std::vector<double>& out, const std::vector<double>& reference);

// Limits of this card, measured once a run.
double copy_bandwidth();                       // bytes/s, read plus written
double read_bandwidth();                       // bytes/s of a kernel that only reads
double cublas_bf16_rate(int m, int n, int k);  // FLOP/s; 0 when cuBLAS is not there

void print(const char* format, ...) __attribute__((format(printf, 1, 2)));

// True as long as every check passed; what failed was printed.
bool all_passed();
void check(bool passed, const std::string& what);

}  // namespace lockstep::gpu_study
