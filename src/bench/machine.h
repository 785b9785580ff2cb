// Where and with what a figure was measured: without it a figure cannot be compared with another.
#pragma once

#include <cstdint>
#include <string>

#include "base/isa.h"
#include "base/json.h"

namespace lockstep::bench {

struct Machine {
  std::string cpu;
  int usable_cpus = 0;  // affinity and control groups taken into account
  uint64_t memory = 0;  // bytes that the system has; 0 where it does not say
  std::string system;   // "Linux 6.1.0-18-amd64 x86_64"
  std::string build;    // compiler and build type
  double load = 0.0;    // runnable threads, average of the last minute; others' and our own
};

Machine this_machine();

json::object to_json(const Machine& machine);

}  // namespace lockstep::bench
