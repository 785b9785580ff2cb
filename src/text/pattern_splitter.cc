#include "text/pattern_splitter.h"

#include <fmt/format.h>

#include <utility>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

namespace lockstep {
namespace {

// A pattern may look at every character of a run for each match, but not try it against itself.
constexpr uint32_t kMatchLimit = 10'000'000;
constexpr uint32_t kHeapLimitKilobytes = 64 << 10;
constexpr size_t kFirstStackBytes = 64 << 10;
constexpr size_t kMaxStackBytes = 16 << 20;

template <auto kFree>
struct Free {
  template <typename T>
  void operator()(T* object) const {
    kFree(object);
  }
};
template <typename T, auto kFree>
using Handle = std::unique_ptr<T, Free<kFree>>;

using CodeHandle = Handle<pcre2_code, pcre2_code_free>;
using ContextHandle = Handle<pcre2_match_context, pcre2_match_context_free>;
using DataHandle = Handle<pcre2_match_data, pcre2_match_data_free>;
using StackHandle = Handle<pcre2_jit_stack, pcre2_jit_stack_free>;

std::string describe(int code) {
  char text[256] = "";
  pcre2_get_error_message(code, reinterpret_cast<PCRE2_UCHAR*>(text), sizeof(text));
  return text;
}

const PCRE2_UCHAR* units(std::string_view text) {
  return reinterpret_cast<const PCRE2_UCHAR*>(text.data());
}

}  // namespace

struct PatternSplitter::Code {
  CodeHandle handle;
};

PatternSplitter::PatternSplitter(std::unique_ptr<Code> code) : code_(std::move(code)) {}
PatternSplitter::PatternSplitter(PatternSplitter&&) noexcept = default;
PatternSplitter& PatternSplitter::operator=(PatternSplitter&&) noexcept = default;
PatternSplitter::~PatternSplitter() = default;

Result<PatternSplitter> PatternSplitter::compile(std::string_view pattern) {
  LOCKSTEP_ASSIGN_OR_RETURN(const std::string translated, translate_pattern(pattern));
  int fault = 0;
  size_t offset = 0;
  CodeHandle handle(pcre2_compile(units(translated), translated.size(), PCRE2_UTF | PCRE2_UCP,
                                  &fault, &offset, nullptr));
  if (handle == nullptr) {
    return Error{ErrorCode::kUnsupported,
                 fmt::format("the word pattern cannot be compiled: {}", describe(fault))};
  }
  // Without a just-in-time compiler for this processor matching is slower, with the same result.
  pcre2_jit_compile(handle.get(), PCRE2_JIT_COMPLETE);
  return PatternSplitter(std::make_unique<Code>(Code{std::move(handle)}));
}

Status PatternSplitter::split(std::string_view text, std::vector<size_t>& ends) const {
  const pcre2_code* code = code_->handle.get();
  const ContextHandle context(pcre2_match_context_create(nullptr));
  const DataHandle data(pcre2_match_data_create_from_pattern(code, nullptr));
  const StackHandle stack(pcre2_jit_stack_create(kFirstStackBytes, kMaxStackBytes, nullptr));
  if (context == nullptr || data == nullptr || stack == nullptr) {
    return Error{ErrorCode::kOutOfMemory, "no memory for matching the word pattern"};
  }
  pcre2_set_match_limit(context.get(), kMatchLimit);
  pcre2_set_heap_limit(context.get(), kHeapLimitKilobytes);
  pcre2_jit_stack_assign(context.get(), nullptr, stack.get());

  size_t done = 0;  // all before is in `ends`
  for (size_t from = 0; from < text.size();) {
    const int found = pcre2_match(code, units(text), text.size(), from, PCRE2_NO_UTF_CHECK,
                                  data.get(), context.get());
    if (found == PCRE2_ERROR_NOMATCH) break;
    if (found < 0) {
      return Error{ErrorCode::kUnsupported,
                   fmt::format("the word pattern cannot be matched: {}", describe(found))};
    }
    const size_t* match = pcre2_get_ovector_pointer(data.get());
    const size_t start = match[0];
    const size_t end = match[1];
    if (start > done) ends.push_back(done = start);
    if (end > start) ends.push_back(done = end);
    from = end;
    if (end == start) {  // an empty match: search on from the next character
      do {
        ++from;
      } while (from < text.size() && (static_cast<uint8_t>(text[from]) & 0xC0u) == 0x80u);
    }
  }
  if (done < text.size()) ends.push_back(text.size());
  return {};
}

}  // namespace lockstep
