// Some published repacks have lost whole blocks of a projection: they load and speak nonsense.
#pragma once

#include <string>
#include <vector>

#include "checkpoint/tensor_source.h"
#include "formats/matrix.h"

namespace lockstep {

// Adds a warning if `matrix`, a view of `record`, has 64 or more consecutive rows of zeros. Cheap:
// looks at every 64th row first. Embeddings and heads are left out, whose unused rows may be zero.
void warn_about_zero_rows(const MatrixView& matrix, const TensorRecord& record,
                          std::vector<std::string>& warnings);

}  // namespace lockstep
