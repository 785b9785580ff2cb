// The bytes that a decode round cannot avoid moving: packed weights touched, state read and
// written, keys and values read. Divided by the time of the round it is the rate that
// `lockstep bench --roofline` holds against the read bandwidth.
#pragma once

#include <cstdint>

#include "model/model.h"

namespace lockstep::bench {

struct Traffic {
  double weights = 0.0;  // bytes, each row of a weight counted once a round
  double state = 0.0;    // recurrent and convolution state, read and written
  double kv = 0.0;       // keys and values read, and those of the new position written

  double total() const { return weights + state + kv; }
};

// One row each of `streams` sequences that stand at `depth`. Of E experts, k a row, R rows touch
// E (1 - (1 - k/E)^R) where every expert is as likely as another; exact for one row.
Traffic decode_traffic(const Model& model, int64_t streams, int64_t depth);

}  // namespace lockstep::bench
