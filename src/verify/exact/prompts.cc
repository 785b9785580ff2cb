#include "verify/exact/prompts.h"

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "checkpoint/mapped_file.h"
#include "text/utf8.h"

namespace lockstep::verify {
namespace {

constexpr size_t kMostFileBytes = size_t{64} << 20;

struct Text {
  std::string_view text;
  size_t tokens;
};

constexpr Text kTexts[] = {
    {"A harbour master keeps two books. In the first she writes every ship as it comes in: its "
     "name, "
     "the hour, the draught, what it carries and where it is bound. In the second she writes what "
     "she "
     "did about it, which berth she gave and why. The first book is never wrong, because it only "
     "says "
     "what was seen. The second book may be argued with, and often is. A captain who waited longer "
     "than "
     "another wants to know the reason, and the reason has to be the tide, the wind or the cargo; "
     "it "
     "must not be that the other captain arrived with three friends. When the harbour is full, "
     "ships "
     "wait outside in the order in which they came, and each is told the same thing that it would "
     "have "
     "been told if it had come alone. That is the whole of the rule. It sounds easy to keep. But "
     "on a "
     "busy evening there are forty lights on the water and one pilot boat, and it is tempting to "
     "bring "
     "in two small ships on one tide because they happen to lie side by side. She never does. What "
     "the "
     "first ship is told may not depend on the second, and in twenty years nobody has found a line "
     "in "
     "either book that could not be explained from that ship alone.\n\n",
     288},
    {"#include <vector>\n\n// Sum of squares, four lanes at a time.\nfloat energy(const "
     "std::vector<float>& x) {\n  float lane[4] = {0, 0, 0, 0};\n  for (size_t i = 0; i < "
     "x.size(); ++i) "
     "{\n    lane[i % 4] += x[i] * x[i];\n  }\n  return (lane[0] + lane[2]) + (lane[1] + "
     "lane[3]);\n}\n",
     96},
    {"Größe 3,5 m² — naïve façade; Привет, мир! 你好，世界。こんにちは 🙂 123456 αβγ ∑x² ≤ 10⁻³ "
     "مرحبا शुभ प्रभात\t\"quoted\" <b>x</b> {\"key\": [1, 2.5e-3, null]}\n",
     64},
};

}  // namespace

Result<std::vector<Prompt>> built_in_prompts(const Tokenizer& tokenizer) {
  std::vector<Prompt> prompts;
  for (const Text& text : kTexts) {
    LOCKSTEP_ASSIGN_OR_RETURN(const Prompt once, tokenizer.encode(text.text, AddedTokens::kNone));
    Prompt prompt;
    while (prompt.size() < text.tokens) prompt.insert(prompt.end(), once.begin(), once.end());
    prompt.resize(text.tokens);
    prompts.push_back(std::move(prompt));
  }
  return prompts;
}

Result<std::vector<Prompt>> read_prompts(const std::filesystem::path& path,
                                         const Tokenizer& tokenizer) {
  LOCKSTEP_ASSIGN_OR_RETURN(const std::string text, read_text_file(path, kMostFileBytes));
  const auto refuse = [&](size_t line, std::string what) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("{}, line {}: {}", path.string(), line, std::move(what))};
  };
  std::vector<Prompt> prompts;
  size_t line = 0;
  for (size_t begin = 0, end = 0; begin < text.size(); begin = end + 1) {
    end = std::min(text.find('\n', begin), text.size());
    ++line;
    const std::string_view prompt = std::string_view(text).substr(begin, end - begin);
    if (prompt.empty()) continue;
    if (find_invalid_utf8(prompt)) return refuse(line, "not valid UTF-8");
    if (prompts.size() == kMostPrompts) {
      return refuse(line, fmt::format("more than {} prompts", kMostPrompts));
    }
    LOCKSTEP_ASSIGN_OR_RETURN(prompts.emplace_back(), tokenizer.encode(prompt));
    if (prompts.back().size() > kMostPromptTokens) {
      return refuse(line, fmt::format("{} tokens; a prompt may have {}", prompts.back().size(),
                                      kMostPromptTokens));
    }
  }
  if (prompts.empty()) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("{} holds no prompt; it takes one a line", path.string())};
  }
  return prompts;
}

}  // namespace lockstep::verify
