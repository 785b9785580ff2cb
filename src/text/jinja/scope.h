// Variables by name number. An inner scope sees the outer ones and hides what it sets itself.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "text/jinja/runtime.h"
#include "text/jinja/value.h"

namespace lockstep::jinja {

struct Scope : Mutable {
  explicit Scope(std::shared_ptr<Scope> outer) : parent(std::move(outer)) {}

  const std::shared_ptr<Scope> parent;
  std::vector<std::pair<int, Value>> variables;

  void set(int name_id, Value value) {
    for (auto& [known, held] : variables) {
      if (known == name_id) {
        held = std::move(value);
        return;
      }
    }
    variables.emplace_back(name_id, std::move(value));
  }

  // Null where neither this scope nor an outer one has the name.
  const Value* find(Runtime& runtime, int name_id) const {
    for (const Scope* scope = this; scope != nullptr; scope = scope->parent.get()) {
      runtime.step(static_cast<int64_t>(scope->variables.size()) / 32);
      for (const auto& [known, value] : scope->variables) {
        if (known == name_id) return &value;
      }
    }
    return nullptr;
  }

  void clear() override { variables.clear(); }
};

using ScopePtr = std::shared_ptr<Scope>;

}  // namespace lockstep::jinja
