#include "kernels/embed/embed.h"

#include <gtest/gtest.h>

#include "kernels/contract/contexts.h"
#include "kernels/linear/test_matrix.h"

namespace lockstep::contract {
namespace {

TEST(Embed, TakesNoRows) {
  const TestMatrix table(affine(4, 64), 2, 64, 3);
  run_embed(default_context(), {.table = table.view()});
}

}  // namespace
}  // namespace lockstep::contract
