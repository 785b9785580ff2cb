// The contracts of all ops, and what their contract.cc share.
#pragma once

#include <initializer_list>
#include <memory>
#include <vector>

#include "kernels/contract/op_contract.h"

namespace lockstep::contract {

OpContract add_contract();
OpContract attention_contract();
OpContract conv1d_causal_contract();
OpContract delta_gates_contract();
OpContract embed_contract();
OpContract gated_delta_contract();
OpContract kv_store_contract();
OpContract l2_norm_contract();
OpContract linear_contract();
OpContract linear_grouped_contract();
OpContract moe_combine_contract();
OpContract moe_route_contract();
OpContract quantize_rows_contract();
OpContract rms_norm_contract();
OpContract rms_norm_gated_contract();
OpContract rope_contract();
OpContract sigmoid_mul_contract();
OpContract silu_mul_contract();

template <typename OneProblem>
std::unique_ptr<Problem> make_problem(const ShapeClass& shape, const ProblemOptions& options) {
  return std::make_unique<OneProblem>(shape, options);
}

inline std::vector<Limit> no_limits(const ShapeClass&) { return {}; }

// One class for each row of values.
std::vector<ShapeClass> shapes(const char* op, const std::vector<const char*>& names,
                               const std::vector<std::vector<int64_t>>& values);

}  // namespace lockstep::contract
