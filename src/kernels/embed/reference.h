#pragma once

#include "kernels/embed/embed.h"

namespace lockstep {

// embed in float64, unrounded.
void reference_embed(const EmbedArgs& args, double* out);

}  // namespace lockstep
