#include <gtest/gtest.h>

#include <set>

#include "kernels/contract/check.h"
#include "kernels/contract/op_contract.h"

namespace lockstep::contract {
namespace {

std::vector<std::string> op_names() {
  std::vector<std::string> names;
  for (const OpContract& contract : op_contracts()) names.emplace_back(contract.op);
  return names;
}

class Contract : public ::testing::TestWithParam<std::string> {};

TEST_P(Contract, IsKeptAndItsGatesSeePlantedDefects) { EXPECT_EQ(check_contract(GetParam()), ""); }

INSTANTIATE_TEST_SUITE_P(AllOps, Contract, ::testing::ValuesIn(op_names()),
                         [](const auto& op) { return op.param; });

TEST(OpContracts, NameEveryOpOnce) {
  const std::vector<std::string> names = op_names();
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), names.size());
  EXPECT_EQ(find_contract("no such op"), nullptr);
}

}  // namespace
}  // namespace lockstep::contract
