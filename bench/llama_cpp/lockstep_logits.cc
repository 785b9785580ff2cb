// Logits of every row for token ids 1, 8, 15 ... (see python/compare_llama_cpp.py), by this engine:
//   lockstep_logits MODEL PRECISION COUNT OUT
// OUT gets COUNT * V float32 values.
#include <cstdio>
#include <fstream>
#include <numeric>
#include <string>

#include "base/check.h"
#include "base/thread_pool.h"
#include "model/forward_pass.h"

namespace lockstep {
namespace {

int run(const std::string& path, const std::string& precision, int64_t count,
        const std::string& out) {
  Result<Checkpoint> checkpoint = open_checkpoint(path, {});
  if (!checkpoint.ok()) return std::fprintf(stderr, "%s\n", checkpoint.error().message.c_str()), 1;
  const auto arithmetic = parse_precision(precision);
  LOCKSTEP_CHECK(arithmetic.has_value(), precision);
  Result<Model> model = Model::make(std::move(checkpoint).value(), {.precision = *arithmetic});
  if (!model.ok()) return std::fprintf(stderr, "%s\n", model.error().message.c_str()), 1;
  std::fprintf(stderr, "%s\n", model.value().precision_tuple().c_str());

  ThreadPool pool(2);
  ForwardPass pass(model.value(), {.pool = pool, .isa = best_isa()},
                   {.rows = count, .logit_rows = count});
  SequenceState sequence(model.value().state_shape());
  RowBatch batch;
  batch.segments = {{.sequence = &sequence, .rows = count}};
  for (int64_t i = 0; i < count; ++i) {
    batch.ids.push_back(static_cast<int32_t>((1 + 7 * i) % model.value().config().vocab_size));
    batch.logit_rows.push_back(i);
  }
  Result<RoundOutput> output = pass.forward(batch);
  if (!output.ok()) return std::fprintf(stderr, "%s\n", output.error().message.c_str()), 1;
  LOCKSTEP_CHECK(output.value().faults.empty(), "a row is not finite");
  std::ofstream file(out, std::ios::binary);
  file.write(reinterpret_cast<const char*>(output.value().logits.data()),
             static_cast<std::streamsize>(output.value().logits.size_bytes()));
  return file.good() ? 0 : 1;
}

}  // namespace
}  // namespace lockstep

int main(int argc, char** argv) {
  if (argc != 5) return std::fprintf(stderr, "lockstep_logits MODEL PRECISION COUNT OUT\n"), 2;
  return lockstep::run(argv[1], argv[2], std::stoll(argv[3]), argv[4]);
}
