// Filters over the items of a value.
#include <fmt/format.h>

#include <algorithm>

#include "text/jinja/arguments.h"
#include "text/jinja/attributes.h"
#include "text/jinja/fault.h"
#include "text/jinja/filters.h"
#include "text/jinja/iterate.h"
#include "text/jinja/operators.h"
#include "text/jinja/repr.h"
#include "text/jinja/select.h"

namespace lockstep::jinja {
namespace {

Value list(Runtime& runtime, const Value& input, const Arguments& arguments) {
  const BoundArguments none("list", arguments, {});
  return make_list(runtime, collect(runtime, input));
}

Value items(Runtime& runtime, const Value& input, const Arguments& arguments) {
  const BoundArguments none("items", arguments, {});
  return deferred(runtime, input.depth() + 1, [input](Runtime& rt) {
    Items pairs;
    if (input.is(Kind::kUndefined)) return pairs;
    if (!input.is(Kind::kMapping)) fail("can only get item pairs from a mapping");
    for (const auto& [key, value] : input.as<Mapping>().items) {
      pairs.push_back(make_tuple(rt, {key, value}));
    }
    return pairs;
  });
}

Value first(Runtime& runtime, const Value& input, const Arguments& arguments) {
  const BoundArguments none("first", arguments, {});
  Value item;
  if (iterate(runtime, input)->next(runtime, item)) return item;
  return Value::undefined("no first item: the sequence is empty");
}

Value last(Runtime& runtime, const Value& input, const Arguments& arguments) {
  const BoundArguments none("last", arguments, {});
  const auto iterator = iterate_backwards(runtime, input);
  if (iterator == nullptr) fail(fmt::format("'{}' is not reversible", type_name(input)));
  Value item;
  if (iterator->next(runtime, item)) return item;
  return Value::undefined("no last item: the sequence is empty");
}

Value reverse(Runtime& runtime, const Value& input, const Arguments& arguments) {
  const BoundArguments none("reverse", arguments, {});
  if (input.is(Kind::kText)) {
    return get_slice(runtime, input, Value::none(), Value::none(), Value::integer(-1));
  }
  if (auto iterator = iterate_backwards(runtime, input)) {
    return make_iterator(runtime, std::move(iterator), input.depth());
  }
  Items all = collect(runtime, input);
  std::reverse(all.begin(), all.end());
  return make_list(runtime, std::move(all));
}

Value join(Runtime& runtime, const Value& input, const Arguments& arguments) {
  const BoundArguments args("join", arguments, {"d", "attribute"});
  const std::string separator = args.find(0) == nullptr ? "" : to_text(runtime, args.at(0));
  const AttributePath path = args.is_none(1) ? AttributePath() : AttributePath(runtime, args.at(1));
  const auto iterator = iterate(runtime, input);
  std::string out;
  Value item;
  for (bool start = true; iterator->next(runtime, item); start = false) {
    const std::string part = to_text(runtime, path.get(runtime, item));
    runtime.work(part.size() + separator.size());
    if (!start) out += separator;
    out += part;
  }
  return make_text(runtime, std::move(out));
}

// Items with the keys they are ordered by.
using Keyed = std::vector<std::pair<Value, Value>>;

Items sorted(Runtime& runtime, Keyed keyed, bool reverse) {
  std::stable_sort(keyed.begin(), keyed.end(), [&](const auto& a, const auto& b) {
    return reverse ? less(runtime, b.first, a.first) : less(runtime, a.first, b.first);
  });
  Items result;
  for (auto& [key, item] : keyed) result.push_back(std::move(item));
  return result;
}

std::vector<AttributePath> attribute_paths(Runtime& runtime, const Value* attribute) {
  std::vector<AttributePath> paths;
  if (attribute == nullptr || attribute->is(Kind::kNone)) {
    paths.emplace_back();
  } else if (!attribute->is(Kind::kText)) {
    paths.emplace_back(runtime, *attribute);
  } else {
    std::string_view rest = attribute->text();
    for (size_t comma = 0; comma != std::string_view::npos; rest.remove_prefix(comma + 1)) {
      comma = rest.find(',');
      paths.emplace_back(runtime, make_text(runtime, std::string(rest.substr(0, comma))));
      if (comma == std::string_view::npos) break;
    }
  }
  return paths;
}

Value sort(Runtime& runtime, const Value& input, const Arguments& arguments) {
  const BoundArguments args("sort", arguments, {"reverse", "case_sensitive", "attribute"});
  const auto paths = attribute_paths(runtime, args.find(2));
  Keyed keyed;
  for (const Value& item : collect(runtime, input)) {
    Items keys;
    for (const AttributePath& path : paths) {
      keys.push_back(sort_key(runtime, path, item, args.truth_or(1, false)));
    }
    keyed.emplace_back(make_list(runtime, std::move(keys)), item);
  }
  return make_list(runtime, sorted(runtime, std::move(keyed), args.truth_or(0, false)));
}

Value dictsort(Runtime& runtime, const Value& input, const Arguments& arguments) {
  const BoundArguments args("dictsort", arguments, {"case_sensitive", "by", "reverse"});
  const std::string_view by = args.text_or(1, "key");
  if (by != "key" && by != "value") fail("dictsort: can only sort by 'key' or 'value'");
  require_defined(input);
  if (!input.is(Kind::kMapping)) fail("dictsort needs a mapping");
  Keyed keyed;
  for (const auto& [key, value] : input.as<Mapping>().items) {
    const Value& chosen = by == "key" ? key : value;
    keyed.emplace_back(sort_key(runtime, {}, chosen, args.truth_or(0, false)),
                       make_tuple(runtime, {key, value}));
  }
  return make_list(runtime, sorted(runtime, std::move(keyed), args.truth_or(2, false)));
}

Value unique(Runtime& runtime, const Value& input, const Arguments& arguments) {
  const BoundArguments args("unique", arguments, {"case_sensitive", "attribute"});
  const bool case_sensitive = args.truth_or(0, false);
  const AttributePath path = args.is_none(1) ? AttributePath() : AttributePath(runtime, args.at(1));
  return deferred(runtime, input.depth(), [=](Runtime& rt) {
    Items kept, seen;
    for (const Value& item : collect(rt, input)) {
      Value key = sort_key(rt, path, item, case_sensitive);
      if (!is_hashable(rt, key)) fail(fmt::format("unhashable type: '{}'", type_name(key)));
      const bool known = std::any_of(seen.begin(), seen.end(),
                                     [&](const Value& other) { return equals(rt, other, key); });
      if (known) continue;
      seen.push_back(std::move(key));
      kept.push_back(item);
    }
    return kept;
  });
}

Value extreme(Runtime& runtime, const char* name, const Value& input, const Arguments& arguments,
              bool largest) {
  const BoundArguments args(name, arguments, {"case_sensitive", "attribute"});
  const AttributePath path = args.is_none(1) ? AttributePath() : AttributePath(runtime, args.at(1));
  const auto iterator = iterate(runtime, input);
  Value best, best_key, item;
  if (!iterator->next(runtime, best)) {
    return Value::undefined("no aggregated item: the sequence is empty");
  }
  const bool case_sensitive = args.truth_or(0, false);
  best_key = sort_key(runtime, path, best, case_sensitive);
  while (iterator->next(runtime, item)) {
    const Value key = sort_key(runtime, path, item, case_sensitive);
    if (!compare(runtime, largest ? Comparison::kGreater : Comparison::kLess, key, best_key)) {
      continue;
    }
    best = item;
    best_key = key;
  }
  return best;
}

Value min(Runtime& rt, const Value& input, const Arguments& arguments) {
  return extreme(rt, "min", input, arguments, false);
}
Value max(Runtime& rt, const Value& input, const Arguments& arguments) {
  return extreme(rt, "max", input, arguments, true);
}

Value batch(Runtime& runtime, const Value& input, const Arguments& arguments) {
  const BoundArguments args("batch", arguments, {"linecount", "fill_with"}, 1);
  const int64_t size = args.integer(0);
  const Value fill = args.find(1) == nullptr ? Value::none() : args.at(1);
  return deferred(runtime, std::max(input.depth(), fill.depth()), [=](Runtime& rt) {
    Items rows, row;
    for (const Value& item : collect(rt, input)) {
      if (static_cast<int64_t>(row.size()) == size) {
        rows.push_back(make_list(rt, std::move(row)));
        row = {};
      }
      row.push_back(item);
    }
    if (row.empty()) return rows;
    if (!fill.is(Kind::kNone)) {
      for (auto have = static_cast<int64_t>(row.size()); have < size; ++have) {
        rt.step();
        row.push_back(fill);
      }
    }
    rows.push_back(make_list(rt, std::move(row)));
    return rows;
  });
}

Value slice(Runtime& runtime, const Value& input, const Arguments& arguments) {
  const BoundArguments args("slice", arguments, {"slices", "fill_with"}, 1);
  const int64_t slices = args.integer(0);
  const Value fill = args.find(1) == nullptr ? Value::none() : args.at(1);
  return deferred(runtime, std::max(input.depth(), fill.depth()), [=](Runtime& rt) {
    const Items all = collect(rt, input);
    if (slices == 0) fail("slice: the number of slices is zero");
    Items rows;
    const auto count = static_cast<int64_t>(all.size());
    auto next = all.begin();
    for (int64_t i = 0; i < slices; ++i) {
      rt.step();
      const bool longer = i < count % slices;
      const auto end = next + (count / slices + (longer ? 1 : 0));
      Items row(next, end);
      next = end;
      if (!fill.is(Kind::kNone) && !longer) row.push_back(fill);
      rows.push_back(make_list(rt, std::move(row)));
    }
    return rows;
  });
}

constexpr Method kSequenceFilters[] = {
    {"batch", batch},   {"dictsort", dictsort}, {"first", first}, {"items", items},
    {"join", join},     {"last", last},         {"list", list},   {"max", max},
    {"min", min},       {"reverse", reverse},   {"slice", slice}, {"sort", sort},
    {"unique", unique},
};

}  // namespace

const Method* find_sequence_filter(std::string_view name) {
  return find_in_table(kSequenceFilters, name);
}

}  // namespace lockstep::jinja
