#include "bench/gpu/harness.cuh"

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>

#include "kernels/cuda/bf16.cuh"

namespace lockstep::gpu_study {
namespace {

bool passed_so_far = true;

__device__ uint32_t mix(uint64_t seed, uint64_t index) {  // splitmix64
  uint64_t z = seed * 0x9e3779b97f4a7c15ull + index * 0xbf58476d1ce4e5b9ull + 0x632be59bd9b4e019ull;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return static_cast<uint32_t>((z ^ (z >> 31)) >> 16);
}

__device__ float unit(uint32_t bits) { return (static_cast<float>(bits >> 8) + 0.5f) * 0x1p-24f; }

__device__ float normal(uint64_t seed, uint64_t index) {
  return sqrtf(-2 * logf(unit(mix(seed, 2 * index)))) *
         cosf(6.2831853f * unit(mix(seed, 2 * index + 1)));
}

template <typename F>
__global__ void for_each(size_t count, F f) {
  for (size_t i = size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count;
       i += size_t{gridDim.x} * blockDim.x)
    f(i);
}

template <typename F>
void over(size_t count, F f) {
  for_each<<<1056, 256, 0, study_stream()>>>(count, f);
  require(cudaGetLastError(), "fill");
}

Timing summarise(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return {values[values.size() / 2], values.front(), values.back()};
}

struct Events {
  cudaEvent_t begin, end;
  Events() {
    require(cudaEventCreate(&begin), "event");
    require(cudaEventCreate(&end), "event");
  }
  ~Events() {
    cudaEventDestroy(begin);
    cudaEventDestroy(end);
  }
  double time(const std::function<void()>& body) {
    require(cudaEventRecord(begin, study_stream()), "event");
    body();
    require(cudaEventRecord(end, study_stream()), "event");
    require(cudaEventSynchronize(end), "kernel");
    float milliseconds = 0;
    require(cudaEventElapsedTime(&milliseconds, begin, end), "event");
    return milliseconds * 1e3;
  }
};

}  // namespace

void require(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::printf("FAILED %s: %s\n", what, cudaGetErrorString(error));
  std::exit(1);
}

void require(const Status& status) {
  if (status) return;
  std::printf("FAILED %s\n", status.error().message.c_str());
  std::exit(1);
}

cudaStream_t study_stream() {
  static const cudaStream_t stream = [] {
    cudaStream_t s;
    require(cudaStreamCreate(&s), "stream");  // ordered with plain copies
    return s;
  }();
  return stream;
}

void fill_bits(uint32_t* out, size_t count, uint64_t seed) {
  over(count, [=] __device__(size_t i) { out[i] = mix(seed, i); });
}
void fill_bf16(uint16_t* out, size_t count, float low, float high, uint64_t seed) {
  over(count, [=] __device__(size_t i) {
    out[i] = cuda::float_to_bf16(low + (high - low) * unit(mix(seed, i)));
  });
}
void fill_normal(float* out, size_t count, float scale, float outlier, uint64_t seed) {
  over(count, [=] __device__(size_t i) {
    out[i] = normal(seed, i) * scale * (i % 97 == 0 ? outlier : 1.0f) + 0.1f * scale;
  });
}
void fill_uniform(float* out, size_t count, float low, float high, uint64_t seed) {
  over(count, [=] __device__(size_t i) { out[i] = low + (high - low) * unit(mix(seed, i)); });
}
void scale_columns(float* matrix, size_t rows, size_t columns, size_t begin, size_t end,
                   float factor) {
  const size_t width = end - begin;
  over(rows * width,
       [=] __device__(size_t i) { matrix[i / width * columns + begin + i % width] *= factor; });
}
void fill_normal_bf16(uint16_t* out, size_t count, float scale, uint64_t seed) {
  over(count, [=] __device__(size_t i) { out[i] = cuda::float_to_bf16(normal(seed, i) * scale); });
}

uint64_t count_differences(const void* a, const void* b, size_t words) {
  static DeviceArray<unsigned long long> counter(1);
  require(cudaMemsetAsync(counter.data(), 0, 8, study_stream()), "memset");
  const auto* x = static_cast<const uint32_t*>(a);
  const auto* y = static_cast<const uint32_t*>(b);
  unsigned long long* total = counter.data();
  over(words, [=] __device__(size_t i) {
    if (x[i] != y[i]) atomicAdd(total, 1ull);
  });
  require(cudaStreamSynchronize(study_stream()), "compare");
  return counter.host()[0];
}

Timing time_graph(int inner, int repeats, const std::function<void(int)>& body) {
  cudaGraph_t graph;
  cudaGraphExec_t run;
  require(cudaStreamBeginCapture(study_stream(), cudaStreamCaptureModeThreadLocal), "capture");
  for (int i = 0; i < inner; ++i) body(i);
  require(cudaStreamEndCapture(study_stream(), &graph), "capture");
  require(cudaGraphInstantiate(&run, graph, 0), "graph");
  const auto launch = [&] { require(cudaGraphLaunch(run, study_stream()), "graph"); };
  Events events;
  launch();
  std::vector<double> times;
  for (int i = 0; i < repeats; ++i) times.push_back(events.time(launch) / inner);
  cudaGraphExecDestroy(run);
  cudaGraphDestroy(graph);
  return summarise(times);
}

Timing time_each(int repeats, const std::function<void()>& body) {
  Events events;
  body();
  std::vector<double> times;
  for (int i = 0; i < repeats; ++i) times.push_back(events.time(body));
  return summarise(times);
}

double relative_error(const std::vector<double>& out, const std::vector<double>& reference) {
  double difference = 0, norm = 0;
  for (size_t i = 0; i < out.size(); ++i) {
    if (!std::isfinite(out[i])) return NAN;
    difference += (out[i] - reference[i]) * (out[i] - reference[i]);
    norm += reference[i] * reference[i];
  }
  return std::sqrt(difference / norm);
}

void print(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  std::vprintf(format, arguments);
  va_end(arguments);
  std::fflush(stdout);
}

bool all_passed() { return passed_so_far; }
void check(bool passed, const std::string& what) {
  if (!passed) {
    print("CHECK FAILED: %s\n", what.c_str());
    passed_so_far = false;
  }
}

}  // namespace lockstep::gpu_study
