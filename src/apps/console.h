// Standard output for results, standard error for everything else.
#pragma once

#include <string>
#include <string_view>

#include "apps/exit_code.h"
#include "base/result.h"

namespace lockstep {

// What the three standard streams are.
struct Console {
  bool in_terminal = false;
  bool out_terminal = false;
  bool err_terminal = false;
  bool dim = false;  // standard output shows escape sequences and the user wants them
};

// Writes all of it to standard output, unbuffered. A closed pipe or a full disk is an error.
Status print(std::string_view text);

// `text` with a question mark for every control character but tabs and line breaks: what models and
// checkpoints say must not drive the terminal.
std::string without_controls(std::string_view text);

// One line for the user on standard error, without controls. Nothing can be done if that fails.
void note(std::string_view line);

// `text` as it is, to standard error.
void note_raw(std::string_view text);

// "lockstep: message" on standard error, on one line whatever the message holds; returns the code.
int fail(ExitCode code, std::string_view message);
inline int fail(const Error& error) { return fail(kFailed, error.message); }

}  // namespace lockstep
