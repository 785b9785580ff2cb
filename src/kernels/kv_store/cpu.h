#pragma once

#include "kernels/kv_store/kv_store.h"
#include "kernels/registry.h"

// Rows [begin, end) of the sequence.
LOCKSTEP_DECLARE_PER_ISA(void kv_store_rows(const KvStoreArgs& args, const KvSequence& sequence,
                                            int64_t begin, int64_t end))
