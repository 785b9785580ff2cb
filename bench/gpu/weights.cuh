// Random MLX affine matrices and activation rows, with their float64 truth.
#pragma once

#include <vector>

#include "bench/gpu/harness.cuh"
#include "kernels/linear/cuda_linear.h"

namespace lockstep::gpu_study {

// float32 rows and their rounded form.
class RoundedRows {
 public:
  RoundedRows(cuda::Way way, int rows, int inputs, uint64_t seed);
  cuda::Activations first(int rows) const { return {x_.data(), sums_.data(), rows}; }
  // The rounded values of one row.
  std::vector<double> row(int row) const;

 private:
  int inputs_;
  double unit_;  // what a stored 1 stands for
  DeviceArray<uint16_t> x_, sums_;
};

// As a checkpoint stores it. With `matrices` > 1 a stack, one after another.
class AffineMatrix {
 public:
  AffineMatrix(int outputs, int inputs, uint64_t seed);

  // Relative error of `out` [.., outputs] at some outputs of the named rows, against the float64
  // product of the exact weights and the rounded activations; activation row = output row.
  double error(const RoundedRows& in, const DeviceArray<float>& out,
               const std::vector<int>& rows) const;
  // One exact dot product.
  double dot(int output, const std::vector<double>& x) const;

  int outputs, inputs;
  DeviceArray<uint32_t> q;
  DeviceArray<uint16_t> scales, biases;
};

class PackedMatrix {
 public:
  // `matrix` holds `matrices` equal ones.
  PackedMatrix(const AffineMatrix& matrix, cuda::Way way, int matrices = 1);
  const cuda::Affine4Tiles& tiles() const { return tiles_; }
  // What one product must read.
  double bytes() const { return static_cast<double>(q_.bytes() + scales_.bytes() * 2); }

 private:
  DeviceArray<uint8_t> q_, scales_, biases_;
  cuda::Affine4Tiles tiles_;
};

}  // namespace lockstep::gpu_study
