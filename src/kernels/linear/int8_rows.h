// Rows of packed weights as the int8 products read them: 16 groups of 32 at a time.
//   AffineMatrix<kBits, kScales>(weight).row(output), BlockMatrix<kType>(weight).row(output)
//   add_blocks<kOutputs, kFirst>(rows, g, present, x, count, acc)
//     adds groups [g, g + present) of kOutputs outputs, met by the blocks x[0 .. count), to
//     acc[output * kMostRows + row], or to +0 if kFirst; count is at most kMostRows, kOutputs at
//     most kOutputsTogether
//   Row::prefetch(g, ahead)
//     asks for the 16 groups from g of the output that stands `ahead` outputs later; not for the
//     scales of affine rows, which the hardware sees coming and which would only take its buffers
#pragma once

#include "kernels/linear/int8_factors.h"

#if defined(LOCKSTEP_ISA_AVX512)
#include "kernels/simd/bytes_avx512.h"
#elif defined(LOCKSTEP_ISA_AVX2)
#include "kernels/simd/bytes_avx2.h"
#endif
#if defined(LOCKSTEP_ISA_AVX512)
#include "kernels/linear/int8_arrange_x86.h"
#include "kernels/linear/int8_dot_avx512.h"
#elif defined(LOCKSTEP_ISA_AVX2)
#include "kernels/linear/int8_arrange_x86.h"
#include "kernels/linear/int8_dot_avx2.h"
#else
#include "kernels/linear/int8_dot_portable.h"
#endif

namespace lockstep::LOCKSTEP_ISA {
namespace {

template <int kBytes>
inline void prefetch_bytes(const uint8_t* address) {
#pragma GCC unroll 16
  for (int i = 0; i < kBytes; i += 64) __builtin_prefetch(address + i);
}

// A copy of the first `bytes` bytes at `address` with zeros after them.
template <int kBytes>
[[gnu::noinline]] const uint8_t* pad_block(const uint8_t* address, int64_t bytes, uint8_t* padded) {
  std::memset(padded, 0, kBytes);
  std::memcpy(padded, address, static_cast<size_t>(bytes));
  return padded;
}

template <int kBits, DType kScales>
class AffineMatrix {
 public:
  using Format = AffineFormat<kBits>;

  class Row {
   public:
    using Format = AffineMatrix::Format;

    const uint8_t* packed(int64_t g, int64_t present, uint8_t* padded) const {
      const uint8_t* block = packed_ + g * 4 * kBits;
      if (present == kGroupsPerBlock) [[likely]]
        return block;
      return pad_block<Format::kBlockBytes>(block, present * 4 * kBits, padded);
    }
    PlainFactors factors(const uint8_t*, int64_t g, int64_t present) const {
      return {spread_scales<kScales>(scales_, g, present, sharing_),
              spread_scales<kScales>(biases_, g, present, sharing_)};
    }
    void prefetch(int64_t g, int64_t ahead) const {
      prefetch_bytes<Format::kBlockBytes>(packed_ + ahead * row_bytes_ + g * 4 * kBits);
    }

   private:
    friend AffineMatrix;
    const uint8_t* packed_;
    const std::byte* scales_;
    const std::byte* biases_;
    int64_t row_bytes_;
    ScaleSharing sharing_;
  };

  explicit AffineMatrix(const MatrixView& weight)
      : weight_(weight),
        row_bytes_(static_cast<int64_t>(weight.row_bytes())),
        scale_row_bytes_(static_cast<int64_t>(weight.scale_row_bytes())),
        sharing_(weight.group / kActivationGroup) {}

  int64_t row_bytes() const { return row_bytes_; }
  Row row(int64_t output) const {
    Row row;
    row.packed_ = reinterpret_cast<const uint8_t*>(weight_.data) + output * row_bytes_;
    row.scales_ = weight_.scales + output * scale_row_bytes_;
    row.biases_ = weight_.biases + output * scale_row_bytes_;
    row.row_bytes_ = row_bytes_;
    row.sharing_ = sharing_;
    return row;
  }

 private:
  const MatrixView& weight_;
  int64_t row_bytes_, scale_row_bytes_;
  ScaleSharing sharing_;
};

template <BlockType kType>
class BlockMatrix {
 public:
  class Row {
   public:
    using Format = BlockFormat<kType>;

    const uint8_t* packed(int64_t g, int64_t present, uint8_t* padded) const {
      const uint8_t* blocks = at(g);
      if (present == kGroupsPerBlock) [[likely]]
        return blocks;
      return pad_block<Format::kBlockBytes>(blocks, present / Format::kGroups * Format::kBytes,
                                            padded);
    }
    auto factors(const uint8_t* packed, int64_t, int64_t) const {
      return factors_of<Format>(packed);
    }
    void prefetch(int64_t g, int64_t ahead) const {
      prefetch_bytes<Format::kBlockBytes>(at(g) + ahead * row_bytes_);
    }

   private:
    friend BlockMatrix;
    const uint8_t* at(int64_t g) const { return blocks_ + g / Format::kGroups * Format::kBytes; }

    const uint8_t* blocks_;
    int64_t row_bytes_;
  };

  explicit BlockMatrix(const MatrixView& weight)
      : data_(reinterpret_cast<const uint8_t*>(weight.data)),
        row_bytes_(static_cast<int64_t>(weight.row_bytes())) {}

  int64_t row_bytes() const { return row_bytes_; }
  Row row(int64_t output) const {
    Row row;
    row.blocks_ = data_ + output * row_bytes_;
    row.row_bytes_ = row_bytes_;
    return row;
  }

 private:
  const uint8_t* data_;
  int64_t row_bytes_;
};

}  // namespace
}  // namespace lockstep::LOCKSTEP_ISA
