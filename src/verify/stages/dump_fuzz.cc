// libFuzzer target: dumps of stages. Whatever is accepted keeps what dump.h promises, and comes
// back from its own bytes.
#include <cstdint>
#include <string>

#include "base/check.h"
#include "verify/stages/compare.h"
#include "verify/stages/dump.h"

namespace {

using lockstep::verify::StageDump;

lockstep::Result<StageDump> parse(const std::string& file) {
  return lockstep::verify::parse_dump(std::as_bytes(std::span(file)), "fuzz");
}

}  // namespace

// The size and the checksum are made right first, so that mutations reach what they cover; the file
// as it is goes through too.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string file(reinterpret_cast<const char*>(data), size);
  (void)parse(file);
  if (!lockstep::verify::seal_dump(file)) return 0;
  const auto dump = parse(file);
  if (!dump.ok()) return 0;
  const StageDump& read = dump.value();
  int64_t before = -1;
  for (const int32_t position : read.positions) {
    LOCKSTEP_CHECK(position > before && position < std::ssize(read.ids), "a bad position");
    before = position;
  }
  for (const int32_t id : read.ids) {
    LOCKSTEP_CHECK(id >= 0 && id < read.identity.vocab, "an id outside the vocabulary");
  }
  for (const auto& stage : read.stages) {
    LOCKSTEP_CHECK(stage.rows() == read.rows_of(stage.name), "a stage without all its rows");
  }
  const auto again = parse(lockstep::verify::to_bytes(read));
  LOCKSTEP_CHECK(again.ok(), "what was read cannot be written");
  LOCKSTEP_CHECK(again.value().positions == read.positions && again.value().ids == read.ids,
                 "what was written reads otherwise");
  (void)lockstep::verify::compare_dumps(read, again.value());
  return 0;
}
