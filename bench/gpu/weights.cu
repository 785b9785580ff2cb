#include "bench/gpu/weights.cuh"

#include "base/float16.h"

namespace lockstep::gpu_study {

RoundedRows::RoundedRows(cuda::Way way, int rows, int inputs, uint64_t seed)
    : inputs_(inputs),
      unit_(way == cuda::Way::kExactIntegers ? 0x1p-64 : 1),
      x_(size_t(rows) * inputs),
      sums_(size_t(rows) * cuda::sum_columns(inputs)) {
  DeviceArray<float> exact(x_.size());
  fill_normal(exact.data(), exact.size(), 1, 30, seed);
  x_.poison();
  sums_.poison();
  require(cuda::round_activations(way, exact.data(), rows, inputs, x_.data(), sums_.data(), false,
                                  study_stream()));
  require(cudaStreamSynchronize(study_stream()), "activations");
}

std::vector<double> RoundedRows::row(int row) const {
  std::vector<double> values;
  for (const uint16_t bits : x_.host(size_t(row) * inputs_, size_t(inputs_)))
    values.push_back(bf16_to_float(bits) * unit_);
  return values;
}

AffineMatrix::AffineMatrix(int outputs_, int inputs_, uint64_t seed)
    : outputs(outputs_),
      inputs(inputs_),
      q(size_t(outputs_) * inputs_ / 8),
      scales(size_t(outputs_) * inputs_ / 64),
      biases(scales.size()) {
  fill_bits(q.data(), q.size(), seed);
  fill_bf16(scales.data(), scales.size(), 0.004f, 0.012f, seed + 1);
  fill_bf16(biases.data(), biases.size(), -0.09f, -0.03f, seed + 2);
  require(cudaStreamSynchronize(study_stream()), "weights");
}

double AffineMatrix::dot(int output, const std::vector<double>& x) const {
  const auto words = q.host(size_t(output) * inputs / 8, size_t(inputs) / 8);
  const auto s = scales.host(size_t(output) * inputs / 64, size_t(inputs) / 64);
  const auto b = biases.host(size_t(output) * inputs / 64, size_t(inputs) / 64);
  double sum = 0;
  for (int k = 0; k < inputs; ++k) {
    const double integer = words[k / 8] >> (4 * (k % 8)) & 15u;
    sum += (bf16_to_float(s[k / 64]) * integer + bf16_to_float(b[k / 64])) * x[k];
  }
  return sum;
}

double AffineMatrix::error(const RoundedRows& in, const DeviceArray<float>& out,
                           const std::vector<int>& rows) const {
  std::vector<double> got, want;
  for (const int row : rows) {
    const auto x = in.row(row);
    for (int i = 0; i < 24; ++i) {
      const int output = static_cast<int>((int64_t{i} * 7919 + row * 31) % outputs);
      got.push_back(out.host(size_t(row) * outputs + output, 1)[0]);
      want.push_back(dot(output, x));
    }
  }
  return relative_error(got, want);
}

PackedMatrix::PackedMatrix(const AffineMatrix& matrix, cuda::Way way, int matrices) {
  tiles_.outputs = matrix.outputs / matrices;
  tiles_.inputs = matrix.inputs;
  cuda::Affine4Tiles all = {.outputs = matrix.outputs, .inputs = matrix.inputs};
  q_ = DeviceArray<uint8_t>(all.q_bytes());
  scales_ = DeviceArray<uint8_t>(all.scale_bytes());
  biases_ = DeviceArray<uint8_t>(all.scale_bytes());
  tiles_.q = q_.data();
  tiles_.scales = scales_.data();
  tiles_.biases = biases_.data();
  require(cuda::pack_affine4(way, matrix.q.data(), matrix.scales.data(), matrix.biases.data(),
                             matrix.outputs, matrix.inputs, q_.data(), scales_.data(),
                             biases_.data(), study_stream()));
}

}  // namespace lockstep::gpu_study
