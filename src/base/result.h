// Expected failures as values: a bad file, a bad request, no memory. Our own bugs use base/check.h.
#pragma once

#include <string>
#include <utility>
#include <variant>

#include "base/check.h"

namespace lockstep {

enum class ErrorCode {
  kInvalidArgument,  // the caller's value is wrong
  kNotFound,         // a named thing does not exist
  kBadFile,          // a file breaks its own format
  kUnsupported,      // well-formed, but not something this engine runs
  kOutOfMemory,      // a plan does not fit
  kIo,               // the operating system failed us
  kNumeric,          // NaN or infinity where none may be
};

const char* to_string(ErrorCode code);

// A sentence for the user: what was found, what was expected, what would work.
struct Error {
  ErrorCode code = ErrorCode::kInvalidArgument;
  std::string message;
};

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT: implicit
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT: implicit

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  T& value() & {
    LOCKSTEP_CHECK(ok(), error().message);
    return std::get<0>(state_);
  }
  const T& value() const& {
    LOCKSTEP_CHECK(ok(), error().message);
    return std::get<0>(state_);
  }
  T&& value() && {
    LOCKSTEP_CHECK(ok(), error().message);
    return std::get<0>(std::move(state_));
  }
  const Error& error() const { return std::get<1>(state_); }

 private:
  std::variant<T, Error> state_;
};

// A Result that carries nothing but success.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Error error) : error_(std::move(error)), ok_(false) {}  // NOLINT: implicit

  bool ok() const { return ok_; }
  explicit operator bool() const { return ok_; }
  const Error& error() const { return error_; }

 private:
  Error error_;
  bool ok_ = true;
};

}  // namespace lockstep

#define LOCKSTEP_CONCAT_INNER(a, b) a##b
#define LOCKSTEP_CONCAT(a, b) LOCKSTEP_CONCAT_INNER(a, b)

// LOCKSTEP_ASSIGN_OR_RETURN(auto x, f()); returns the error of f() to the caller or assigns its
// value.
#define LOCKSTEP_ASSIGN_OR_RETURN(lhs, expression) \
  LOCKSTEP_ASSIGN_OR_RETURN_INNER(LOCKSTEP_CONCAT(result_, __LINE__), lhs, expression)
#define LOCKSTEP_ASSIGN_OR_RETURN_INNER(result, lhs, expression) \
  auto result = (expression);                                    \
  if (!result.ok()) return result.error();                       \
  lhs = std::move(result).value()

#define LOCKSTEP_RETURN_IF_ERROR(expression)                                        \
  if (auto status_returned_if_error = (expression); !status_returned_if_error.ok()) \
  return status_returned_if_error.error()
