#include "kernels/contract/op_contracts.h"

#include "base/check.h"

namespace lockstep::contract {

std::span<const OpContract> op_contracts() {
  static const OpContract contracts[] = {add_contract(),
                                         attention_contract(),
                                         conv1d_causal_contract(),
                                         delta_gates_contract(),
                                         embed_contract(),
                                         gated_delta_contract(),
                                         kv_store_contract(),
                                         l2_norm_contract(),
                                         linear_contract(),
                                         linear_grouped_contract(),
                                         moe_combine_contract(),
                                         moe_route_contract(),
                                         quantize_rows_contract(),
                                         rms_norm_contract(),
                                         rms_norm_gated_contract(),
                                         rope_contract(),
                                         sigmoid_mul_contract(),
                                         silu_mul_contract()};
  return contracts;
}

const OpContract* find_contract(std::string_view op) {
  for (const OpContract& contract : op_contracts()) {
    if (contract.op == op) return &contract;
  }
  return nullptr;
}

std::vector<ShapeClass> shapes(const char* op, const std::vector<const char*>& names,
                               const std::vector<std::vector<int64_t>>& values) {
  std::vector<ShapeClass> classes;
  for (const std::vector<int64_t>& row : values) {
    LOCKSTEP_CHECK(row.size() == names.size(), "a value for each name");
    ShapeClass shape{.op = op, .dims = {}};
    for (size_t i = 0; i < row.size(); ++i) shape.dims.emplace_back(names[i], row[i]);
    classes.push_back(std::move(shape));
  }
  return classes;
}

}  // namespace lockstep::contract
