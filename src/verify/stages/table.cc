#include "verify/stages/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "model/stages.h"

namespace lockstep::verify {
namespace {

bool in_residual_stream(const StageError& stage) {
  return stage.name == stages::kEmbed || stage.name == stages::kFinalNorm ||
         (stage.name.starts_with("layers.") && stage.name.ends_with(".layer"));
}

// "q_proj" of "layers.3.q_proj"; a draft head is a class apart.
std::string class_of(const std::string& name) {
  return name.starts_with("layers.") ? name.substr(name.find('.', 7) + 1) : name;
}

struct ClassError {
  std::vector<double> medians;  // a layer each
  const StageError* worst = nullptr;
  const StageError* worst_column = nullptr;
};

std::vector<std::pair<std::string, ClassError>> by_class(const Comparison& comparison) {
  std::vector<std::pair<std::string, ClassError>> classes;
  for (const StageError& stage : comparison.stages) {
    const std::string name = class_of(stage.name);
    auto found = std::find_if(classes.begin(), classes.end(),
                              [&](const auto& each) { return each.first == name; });
    if (found == classes.end()) found = classes.insert(classes.end(), {name, {}});
    ClassError& error = found->second;
    error.medians.push_back(stage.median);
    if (error.worst == nullptr || stage.worst > error.worst->worst) error.worst = &stage;
    if (stage.worst_column < 0) continue;
    if (error.worst_column == nullptr ||
        stage.worst_column_error > error.worst_column->worst_column_error) {
      error.worst_column = &stage;
    }
  }
  return classes;
}

std::string class_table(const Comparison& comparison) {
  std::string text =
      fmt::format("\n{:<28} {:>6} {:>10} {:>10}  {:<28} {:>10}  {}\n", "class of stage", "layers",
                  "median", "worst row", "where", "worst col", "where");
  for (auto& [name, error] : by_class(comparison)) {
    std::sort(error.medians.begin(), error.medians.end());
    const std::string where = fmt::format("{} p{}", error.worst->name, error.worst->worst_position);
    text += fmt::format("{:<28} {:>6} {:>10.2e} {:>10.2e}  {:<28}", name, error.medians.size(),
                        error.medians[error.medians.size() / 2], error.worst->worst, where);
    if (error.worst_column != nullptr) {
      text += fmt::format(" {:>10.2e}  {} column {}", error.worst_column->worst_column_error,
                          error.worst_column->name, error.worst_column->worst_column);
    }
    text += '\n';
  }
  return text;
}

std::string choice_table(const LogitError& logits) {
  const int64_t count = std::ssize(logits.choices);
  const int64_t agreeing = logits.agreeing();
  std::string text = fmt::format(
      "\n{}: top 1 agrees at {} of {} positions ({:.2f} %), {} of the others are near ties; worst "
      "difference of two logits {:.3g}\n{:>8} {:>8} {:>10} {:>8} {:>10}\n",
      logits.name, agreeing, count,
      100.0 * static_cast<double>(agreeing) / static_cast<double>(count), logits.near_ties(),
      logits.worst, "position", "A", "margin", "B", "margin");
  for (const Choice& choice : logits.choices) {
    const char* note = choice.agree() ? "" : choice.near_tie() ? "  near tie" : "  DIFFERENT";
    text += fmt::format("{:>8} {:>8} {:>10.4g} {:>8} {:>10.4g}{}\n", choice.position,
                        choice.a.first, choice.a.margin, choice.b.first, choice.b.margin, note);
  }
  return text;
}

std::string name_list(const char* what, const std::vector<std::string>& names) {
  if (names.empty()) return {};
  constexpr size_t kShown = 6;
  std::string text = fmt::format("{}: {}", what, names.front());
  for (size_t i = 1; i < std::min(names.size(), kShown); ++i) text += ", " + names[i];
  if (names.size() > kShown) text += fmt::format(" and {} more", names.size() - kShown);
  return text + "\n";
}

// JSON knows no infinity.
json::value number(double x) { return std::isfinite(x) ? json::value(x) : json::value(nullptr); }

json::object to_json(const TopTwo& top) {
  return {{"first", top.first},
          {"second", top.second},
          {"logit", number(top.logit)},
          {"margin", number(top.margin)}};
}

json::object to_json(const LogitError& logits) {
  json::array choices;
  for (const Choice& choice : logits.choices) {
    choices.push_back(json::object{{"position", choice.position},
                                   {"a", to_json(choice.a)},
                                   {"b", to_json(choice.b)},
                                   {"agree", choice.agree()},
                                   {"near_tie", choice.near_tie()}});
  }
  return {{"name", logits.name},
          {"worst_difference", number(logits.worst)},
          {"agreeing", logits.agreeing()},
          {"choices", std::move(choices)}};
}

}  // namespace

std::string to_text(const Comparison& comparison) {
  std::string text = fmt::format("{:<20} {:>6} {:>10} {:>10} {:>8}\n", "residual stream", "rows",
                                 "median", "worst", "position");
  for (const StageError& stage : comparison.stages) {
    if (!in_residual_stream(stage)) continue;
    text += fmt::format("{:<20} {:>6} {:>10.2e} {:>10.2e} {:>8}\n", stage.name, stage.rows,
                        stage.median, stage.worst, stage.worst_position);
  }
  text += class_table(comparison);
  for (const LogitError& logits : comparison.logits) text += choice_table(logits);
  text += name_list("only in A", comparison.only_a) + name_list("only in B", comparison.only_b);
  return text;
}

json::object to_json(const Comparison& comparison) {
  json::array stages, logits;
  for (const StageError& stage : comparison.stages) {
    json::object entry = {{"name", stage.name},
                          {"rows", stage.rows},
                          {"median", number(stage.median)},
                          {"worst", number(stage.worst)},
                          {"worst_position", stage.worst_position}};
    if (stage.worst_column >= 0) {
      entry["worst_column"] = stage.worst_column;
      entry["worst_column_error"] = number(stage.worst_column_error);
    }
    stages.push_back(std::move(entry));
  }
  for (const LogitError& each : comparison.logits) logits.push_back(to_json(each));
  const auto names = [](const std::vector<std::string>& list) {
    return json::array(list.begin(), list.end());
  };
  return {{"stages", std::move(stages)},
          {"logits", std::move(logits)},
          {"only_a", names(comparison.only_a)},
          {"only_b", names(comparison.only_b)}};
}

}  // namespace lockstep::verify
