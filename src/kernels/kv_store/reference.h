// kv_store in float64, unrounded, in the plainest order.
#pragma once

#include "kernels/kv_store/kv_store.h"

namespace lockstep {

// The same bits as kv_store: its roundings are its definition.
void reference_kv_store(const KvStoreArgs& args);

}  // namespace lockstep
