// Host side of a launch: attributes by name, the result as a Status.
#pragma once

#include <cuda_runtime.h>

#include <string>
#include <utility>

#include "base/result.h"

namespace lockstep::cuda {

inline Status status_of(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return {};
  return Error{error == cudaErrorMemoryAllocation ? ErrorCode::kOutOfMemory : ErrorCode::kIo,
               std::string("CUDA: ") + what + ": " + cudaGetErrorString(error)};
}

struct LaunchShape {
  dim3 grid = dim3(1);
  dim3 block = dim3(1);
  size_t shared_bytes = 0;
  int cluster = 1;       // consecutive blocks in x
  bool overlap = false;  // programmatic dependent launch: the kernel must wait before it reads
};

inline Status allow_shared(const void* kernel, size_t bytes, const char* name) {
  if (bytes <= 48 * 1024) return {};
  return status_of(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                        static_cast<int>(bytes)),
                   name);
}

// Clusters of this shape that the GPU holds at once. Its processors come in groups of uneven size,
// so this can be less than processors / cluster; a persistent grid beyond it would run in two
// rounds.
template <typename... Parameters>
int resident_clusters(void (*kernel)(Parameters...), const LaunchShape& shape) {
  const auto* function = reinterpret_cast<const void*>(kernel);
  if (!allow_shared(function, shape.shared_bytes, "")) return 0;
  cudaLaunchAttribute attribute;
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {static_cast<unsigned>(shape.cluster), 1, 1};
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(static_cast<unsigned>(shape.cluster));
  config.blockDim = shape.block;
  config.dynamicSmemBytes = shape.shared_bytes;
  config.attrs = &attribute;
  config.numAttrs = 1;
  int clusters = 0;
  return cudaOccupancyMaxActiveClusters(&clusters, function, &config) == cudaSuccess ? clusters : 0;
}

template <typename... Parameters, typename... Arguments>
Status launch(const char* name, void (*kernel)(Parameters...), const LaunchShape& shape,
              cudaStream_t stream, Arguments&&... arguments) {
  LOCKSTEP_RETURN_IF_ERROR(
      allow_shared(reinterpret_cast<const void*>(kernel), shape.shared_bytes, name));
  cudaLaunchAttribute attributes[2];
  cudaLaunchConfig_t config = {};
  config.gridDim = shape.grid;
  config.blockDim = shape.block;
  config.dynamicSmemBytes = shape.shared_bytes;
  config.stream = stream;
  config.attrs = attributes;
  if (shape.cluster > 1) {
    attributes[config.numAttrs].id = cudaLaunchAttributeClusterDimension;
    attributes[config.numAttrs++].val.clusterDim = {static_cast<unsigned>(shape.cluster), 1, 1};
  }
  if (shape.overlap) {
    attributes[config.numAttrs].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attributes[config.numAttrs++].val.programmaticStreamSerializationAllowed = 1;
  }
  return status_of(
      cudaLaunchKernelEx(&config, kernel,
                         static_cast<Parameters>(std::forward<Arguments>(arguments))...),
      name);
}

}  // namespace lockstep::cuda
