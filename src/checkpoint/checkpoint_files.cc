#include "checkpoint/checkpoint_files.h"

#include "checkpoint/mapping_guard.h"

namespace lockstep {

Status check_files(const Checkpoint& checkpoint) {
  for (const MappedFile& file : checkpoint.files) {
    LOCKSTEP_RETURN_IF_ERROR(check_mapping(file.bytes(), file.path()));
  }
  return {};
}

}  // namespace lockstep
