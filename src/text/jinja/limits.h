// What a template may use. Templates come with checkpoints, so none is trusted to end.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lockstep::jinja {

struct Limits {
  // Parsing.
  size_t source_bytes = size_t{1} << 20;
  int nesting = 200;            // blocks inside one another, and twice the brackets
  int expression_height = 250;  // longest path through one expression's tree

  // Rendering. A step is a statement, an operator, an item visited, a comparison.
  int64_t steps = 20'000'000;
  int depth = 1000;       // statements, expressions and macro calls inside one another
  int value_depth = 100;  // lists and mappings inside one another
  int64_t range_items = 100'000;
  // Bytes of all strings and lists ever made or searched, which bounds memory and time together.
  int64_t work_bytes = int64_t{512} << 20;
  size_t output_bytes = size_t{64} << 20;
};

}  // namespace lockstep::jinja
