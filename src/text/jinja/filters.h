// Jinja's filters: {{ value | name(arguments) }}.
#pragma once

#include <string>
#include <string_view>

#include "text/jinja/methods.h"
#include "text/jinja/runtime.h"
#include "text/jinja/value.h"

namespace lockstep::jinja {

// Null where there is none.
const Method* find_filter(std::string_view name);
// The sentence for one that find_filter does not know.
std::string unknown_filter(std::string_view name);

// The groups of filters, one file each.
const Method* find_text_filter(std::string_view name);
const Method* find_number_filter(std::string_view name);
const Method* find_sequence_filter(std::string_view name);
const Method* find_selection_filter(std::string_view name);

template <size_t N>
const Method* find_in_table(const Method (&table)[N], std::string_view name) {
  for (const Method& method : table) {
    if (method.name == name) return &method;
  }
  return nullptr;
}

}  // namespace lockstep::jinja
