#include "text/jinja/template.h"

#include <fmt/format.h>

#include <new>
#include <unordered_map>

#include "text/jinja/fault.h"
#include "text/jinja/from_json.h"
#include "text/jinja/functions.h"
#include "text/jinja/interpreter.h"
#include "text/jinja/parser.h"
#include "text/jinja/runtime.h"

namespace lockstep::jinja {
namespace {

ErrorCode error_code(FaultKind kind) {
  switch (kind) {
    case FaultKind::kSyntax:
      return ErrorCode::kBadFile;
    case FaultKind::kUnsupported:
      return ErrorCode::kUnsupported;
    case FaultKind::kRaised:
    case FaultKind::kEvaluation:
      return ErrorCode::kInvalidArgument;
    case FaultKind::kLimit:
      return ErrorCode::kOutOfMemory;
  }
  return ErrorCode::kInvalidArgument;
}

const char* lead_in(FaultKind kind) {
  switch (kind) {
    case FaultKind::kRaised:
      return "the template refuses this conversation: ";
    case FaultKind::kLimit:
      return "the template asks for too much: ";
    default:
      return "";
  }
}

Error to_error(const Fault& fault, const std::string& name, int line) {
  const int where = fault.line > 0 ? fault.line : line;
  const std::string place = where > 0 ? fmt::format("{}, line {}", name, where) : name;
  return Error{error_code(fault.kind),
               fmt::format("{}: {}{}", place, lead_in(fault.kind), fault.message)};
}

// Only what the template mentions is converted.
std::vector<std::optional<Value>> make_globals(const Document& document, Runtime& runtime,
                                               const Variables& variables) {
  std::unordered_map<std::string_view, size_t> numbers;
  for (size_t i = 0; i < document.names.size(); ++i) numbers.emplace(document.names[i], i);
  std::vector<std::optional<Value>> globals(document.names.size());
  for (auto& [name, function] : standard_functions()) {
    const auto found = numbers.find(name);
    if (found != numbers.end()) globals[found->second] = function;
  }
  for (const auto& [name, value] : variables) {
    const auto found = numbers.find(name);
    if (found != numbers.end()) globals[found->second] = from_json(runtime, value);
  }
  return globals;
}

}  // namespace

Result<Template> Template::parse(std::string_view source, std::string name, const Limits& limits) {
  try {
    auto document = std::make_shared<Document>(jinja::parse(source, limits));
    return Template(std::move(document), std::move(name), limits);
  } catch (const Fault& fault) {
    return to_error(fault, name, 0);
  } catch (const std::bad_alloc&) {
    return to_error({FaultKind::kLimit, "no memory is left", 0}, name, 0);
  }
}

Result<std::string> Template::render(const Variables& variables, std::optional<std::tm> now) const {
  int line = 0;
  try {
    Runtime runtime(limits_, now);
    Interpreter interpreter(*document_, runtime, make_globals(*document_, runtime, variables));
    try {
      return interpreter.run();
    } catch (const Fault&) {
      line = interpreter.line();
      throw;
    }
  } catch (const Fault& fault) {
    return to_error(fault, name_, line);
  } catch (const std::bad_alloc&) {
    return to_error({FaultKind::kLimit, "no memory is left", 0}, name_, line);
  }
}

}  // namespace lockstep::jinja
