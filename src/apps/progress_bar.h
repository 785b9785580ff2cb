// A line on the terminal that fills up.
#pragma once

#include <cstdint>
#include <string>

namespace lockstep {

// Draws on standard error and clears its line at the end; shows nothing where that is no terminal.
class ProgressBar {
 public:
  enum class Unit : uint8_t { kBytes, kSteps };

  ProgressBar(std::string title, bool visible, Unit unit = Unit::kBytes)
      : title_(std::move(title)), visible_(visible), unit_(unit) {}
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  // In units of the bar.
  void update(uint64_t done, uint64_t total);
  // Makes room for a line; the next update draws it again.
  void clear();

 private:
  std::string title_;
  bool visible_;
  Unit unit_;
  int shown_percent_ = -1;
};

}  // namespace lockstep
