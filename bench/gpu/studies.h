// The parts of the study, in the order of docs/gpu-arithmetic.md.
#pragma once

namespace lockstep::gpu_study {

void study_ceilings();
void study_instructions();
void study_products();
void study_attention();
void study_gated_delta();
void study_experts();
void study_round();

void study_spread();  // tuning, not part of `all`

}  // namespace lockstep::gpu_study
