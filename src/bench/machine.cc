#include "bench/machine.h"

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cstdlib>

#include "device/cpu_info.h"

namespace lockstep::bench {
namespace {

std::string system_name() {
  utsname name = {};
  if (uname(&name) != 0) return "";
  return fmt::format("{} {} {}", name.sysname, name.release, name.machine);
}

uint64_t memory_bytes() {
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long size = sysconf(_SC_PAGE_SIZE);
  return pages > 0 && size > 0 ? static_cast<uint64_t>(pages) * static_cast<uint64_t>(size) : 0;
}

double load_average() {
  double minute = 0.0;
  return getloadavg(&minute, 1) == 1 ? minute : 0.0;
}

}  // namespace

Machine this_machine() {
  return {.cpu = cpu_name(),
          .usable_cpus = usable_cpus(),
          .memory = memory_bytes(),
          .system = system_name(),
          .build = LOCKSTEP_BUILD,
          .load = load_average()};
}

json::object to_json(const Machine& machine) {
  return {{"cpu", machine.cpu},       {"usable_cpus", machine.usable_cpus},
          {"memory", machine.memory}, {"system", machine.system},
          {"build", machine.build},   {"load", machine.load}};
}

}  // namespace lockstep::bench
