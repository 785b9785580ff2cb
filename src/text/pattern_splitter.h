// Cuts text into words by a pattern that comes with a model, through PCRE2.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace lockstep {

// Rewrites a pattern of the reference's engine (Oniguruma) for PCRE2. Where the two differ the
// pattern is refused, or written out: \s matches U+180E in PCRE2. \p{..} follows the Unicode
// version of PCRE2 (14 in 10.42), so that letters of later versions are none here.
Result<std::string> translate_pattern(std::string_view pattern);

class PatternSplitter {
 public:
  static Result<PatternSplitter> compile(std::string_view pattern);

  PatternSplitter(PatternSplitter&&) noexcept;
  PatternSplitter& operator=(PatternSplitter&&) noexcept;
  ~PatternSplitter();

  // Appends the end offset of every word of `text`, valid UTF-8: the matches, and what stands
  // between them. Fails if the pattern needs too many steps. Several threads may split at once.
  Status split(std::string_view text, std::vector<size_t>& ends) const;

 private:
  struct Code;
  explicit PatternSplitter(std::unique_ptr<Code> code);

  std::unique_ptr<Code> code_;
};

}  // namespace lockstep
