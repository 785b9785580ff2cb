#include <algorithm>

#include "kernels/embed/cpu.h"
#include "kernels/simd/decode.h"

namespace lockstep::LOCKSTEP_ISA {

void embed_row(const MatrixView& table, int64_t row, float* out) {
  // Whole steps of 32 go straight to `out`; the padding of a dense tail must not.
  const int64_t whole = table.cols / 32 * 32;
  decode_elements(table, row, 0, whole, out);
  if (whole < table.cols) {
    float tail[32];
    decode_elements(table, row, whole, table.cols - whole, tail);
    std::copy(tail, tail + (table.cols - whole), out + whole);
  }
}

}  // namespace lockstep::LOCKSTEP_ISA
