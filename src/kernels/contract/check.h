// The whole contract of an op in a unit test: EXPECT_EQ(check_contract("add"), "").
#pragma once

#include <string>
#include <string_view>

namespace lockstep::contract {

// Every gate at every test shape, and every planted defect at the first of them, which must turn
// its gate red. Empty, or one line per fault. Prints one line per gate with the worst figure.
std::string check_contract(std::string_view op);

}  // namespace lockstep::contract
