// A template in the part of Jinja that chat templates use, with the meaning that Hugging Face
// transformers gives it: an immutable sandbox, trim_blocks, lstrip_blocks, break and continue, a
// plain tojson, raise_exception, strftime_now and generation blocks. Measured against Jinja 3.1.6.
//
// Left out, and refused by name: extends, include, import, block, autoescape; filters that make
// HTML or need randomness; integers beyond 64 bits; names beyond ASCII.
#pragma once

#include <ctime>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "text/jinja/ast.h"
#include "text/jinja/limits.h"

namespace lockstep::jinja {

using Variables = std::vector<std::pair<std::string, json::value>>;

class Template {
 public:
  // `name` stands in messages: "chat_template.jinja, line 3: ...".
  static Result<Template> parse(std::string_view source, std::string name,
                                const Limits& limits = {});

  // Of equal names the last variable counts. `now` is what strftime_now prints; without it that
  // function is an error. Errors: kInvalidArgument where the template raises or Python would,
  // kUnsupported for what is left out, kOutOfMemory beyond a limit. May run in several threads.
  Result<std::string> render(const Variables& variables,
                             std::optional<std::tm> now = std::nullopt) const;

  const std::string& name() const { return name_; }

 private:
  Template(std::shared_ptr<const Document> document, std::string name, const Limits& limits)
      : document_(std::move(document)), name_(std::move(name)), limits_(limits) {}

  std::shared_ptr<const Document> document_;
  std::string name_;
  Limits limits_;
};

}  // namespace lockstep::jinja
