#include "kernels/embed/reference.h"

#include "kernels/linear/reference.h"

namespace lockstep {

void reference_embed(const EmbedArgs& args, double* out) {
  for (int64_t row = 0; row < args.rows; ++row) {
    for (int64_t k = 0; k < args.table.cols; ++k) {
      *out++ = reference_weight(args.table, args.ids[row], k).value();
    }
  }
}

}  // namespace lockstep
