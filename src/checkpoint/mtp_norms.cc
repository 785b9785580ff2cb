#include "checkpoint/mtp_norms.h"

#include <fmt/format.h>

#include <numeric>

#include "checkpoint/vector_values.h"

namespace lockstep {
namespace {

constexpr const char* kNorm = "mtp.pre_fc_norm_embedding.weight";
// Measured: -0.44 (27B) and -0.02 as w; 0.56 (27B), 0.98 and 1.00 as 1 + w.
constexpr double kLargestRawMean = 0.1;
constexpr double kSmallestShiftedMean = 0.4;
constexpr double kThreshold = 0.25;

std::optional<bool> says_add_one(const std::string& encoding) {
  if (encoding == "delta" || encoding == "delta_plus_one" || encoding == "mlx_delta") return true;
  return std::nullopt;
}

}  // namespace

Result<NormConvention> decide_mtp_norms(const Checkpoint& checkpoint,
                                        const MtpNormEvidence& evidence,
                                        std::vector<std::string>& warnings) {
  if (evidence.layout == Layout::kGguf) {
    return NormConvention{false, "GGUF: 1 is already in the weights."};
  }
  if (evidence.encoding) {
    if (says_add_one(*evidence.encoding)) {
      return NormConvention{true, fmt::format("The config says norm encoding {}: 1 is added.",
                                              quote_json(*evidence.encoding))};
    }
    warnings.push_back(
        fmt::format("The draft head's norm encoding {} is not known; its norms' mean decides.",
                    quote_json(evidence.encoding->substr(0, 64))));
  }
  const TensorRecord* record = checkpoint.tensors.find(kNorm);
  if (record == nullptr) {
    return Error{ErrorCode::kBadFile, fmt::format("tensor {} is missing", kNorm)};
  }
  LOCKSTEP_ASSIGN_OR_RETURN(const auto values, widen_to_float(*record));
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) /
                      static_cast<double>(std::max<size_t>(values.size(), 1));
  if (evidence.layout == Layout::kHuggingFace) {
    if (mean > kSmallestShiftedMean) {
      warnings.push_back(fmt::format(
          "The draft head is in Hugging Face layout, so 1 is added to its norms, but {} has the "
          "mean {:.2f}, as if that had been done.",
          kNorm, mean));
    }
    return NormConvention{true, "Stored with a convolution in Hugging Face layout: 1 is added."};
  }
  if (mean > kLargestRawMean && mean < kSmallestShiftedMean) {
    warnings.push_back(fmt::format(
        "The mean of {}, {:.2f}, does not tell clearly whether 1 was added to the norms.", kNorm,
        mean));
  }
  const bool add_one = mean < kThreshold;
  return NormConvention{add_one, fmt::format("The mean of {} is {:.2f}: 1 is {}.", kNorm, mean,
                                             add_one ? "added" : "already in the weights")};
}

}  // namespace lockstep
