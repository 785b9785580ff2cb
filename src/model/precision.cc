#include "model/precision.h"

namespace lockstep {

const char* to_string(Precision precision) {
  return precision == Precision::kFull ? "full" : "int8";
}

std::optional<Precision> parse_precision(std::string_view name) {
  for (Precision precision : {Precision::kInt8, Precision::kFull}) {
    if (name == to_string(precision)) return precision;
  }
  return std::nullopt;
}

}  // namespace lockstep
