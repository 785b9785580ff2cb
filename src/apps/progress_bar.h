// A line on the terminal that fills up.
#pragma once

#include <cstdint>
#include <string>

namespace lockstep {

// Draws on standard error and clears its line at the end; shows nothing where that is no terminal.
class ProgressBar {
 public:
  ProgressBar(std::string title, bool visible) : title_(std::move(title)), visible_(visible) {}
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  // In bytes.
  void update(uint64_t done, uint64_t total);

 private:
  std::string title_;
  bool visible_;
  int shown_percent_ = -1;
};

}  // namespace lockstep
