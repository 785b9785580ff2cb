// Two-dimensional tensor maps for the copy engine, by the driver's encoder (no link to libcuda).
#pragma once

#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdint>

#include "base/result.h"

namespace lockstep::cuda {

struct TileShape {
  uint64_t columns = 0, rows = 0;  // of the tensor, in elements; rows are dense
  uint32_t box_columns = 0, box_rows = 0;
  bool bf16 = true;  // else 32-bit words
  int swizzle = 0;   // 0, 32 or 128: the bytes of a box row
};

inline Result<CUtensorMap> tile_map(const void* data, const TileShape& shape) {
  static const auto encode = [] {
    void* function = nullptr;
    cudaDriverEntryPointQueryResult found;
    cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000, cudaEnableDefault,
                                     &found);
    return reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(function);
  }();
  if (encode == nullptr)
    return Error{ErrorCode::kUnsupported, "CUDA: the driver has no tensor map encoder"};
  CUtensorMap map;
  const cuuint64_t sizes[2] = {shape.columns, shape.rows};
  const cuuint64_t stride[1] = {shape.columns * (shape.bf16 ? 2 : 4)};
  const cuuint32_t box[2] = {shape.box_columns, shape.box_rows};
  const cuuint32_t steps[2] = {1, 1};
  const CUtensorMapSwizzle swizzle = shape.swizzle == 128  ? CU_TENSOR_MAP_SWIZZLE_128B
                                     : shape.swizzle == 32 ? CU_TENSOR_MAP_SWIZZLE_32B
                                                           : CU_TENSOR_MAP_SWIZZLE_NONE;
  const CUresult result =
      encode(&map, shape.bf16 ? CU_TENSOR_MAP_DATA_TYPE_BFLOAT16 : CU_TENSOR_MAP_DATA_TYPE_UINT32,
             2, const_cast<void*>(data), sizes, stride, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
             swizzle, CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS)
    return Error{ErrorCode::kInvalidArgument, "CUDA: this shape has no tensor map"};
  return map;
}

}  // namespace lockstep::cuda
