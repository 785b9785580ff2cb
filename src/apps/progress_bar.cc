#include "apps/progress_bar.h"

#include <fmt/format.h>

#include <algorithm>

#include "apps/console.h"
#include "runtime/memory_plan.h"

namespace lockstep {

ProgressBar::~ProgressBar() { clear(); }

void ProgressBar::clear() {
  if (shown_percent_ >= 0) note_raw("\r\x1b[K");
  shown_percent_ = -1;
}

void ProgressBar::update(uint64_t done, uint64_t total) {
  if (!visible_) return;
  constexpr int kWidth = 30;
  const double part =
      total == 0 ? 1.0 : std::min(1.0, static_cast<double>(done) / static_cast<double>(total));
  const int percent = static_cast<int>(part * 100.0);
  if (percent == shown_percent_) return;
  shown_percent_ = percent;
  const int filled = static_cast<int>(part * kWidth);
  const std::string amounts = unit_ == Unit::kBytes
                                  ? fmt::format("{} of {}", format_bytes(done), format_bytes(total))
                                  : fmt::format("{} of {}", done, total);
  note_raw(fmt::format("\r\x1b[K{} [{:#<{}}{:.<{}}] {}", title_, "", filled, "", kWidth - filled,
                       amounts));
}

}  // namespace lockstep
