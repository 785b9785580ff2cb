#include "model/testing/variants.h"

#include "checkpoint/testing/synthetic.h"

namespace lockstep::testing {
namespace {

SynthOptions affine(int bits, int group) {
  SynthOptions options;
  options.bits = bits;
  options.group = group;
  return options;
}

SynthOptions hugging_face(DType dtype) {
  SynthOptions options;
  options.layout = Layout::kHuggingFace;
  options.dtype = dtype;
  return options;
}

SynthOptions unquantised_mlx() {
  SynthOptions options;
  options.overrides = {{.part = "", .bits = 0}};
  return options;
}

SynthOptions mixture() {
  SynthOptions options = affine(4, 64);
  options.overrides = {{.part = "down_proj", .bits = 6, .group = 32},
                       {.part = "embed_tokens", .bits = 8, .group = 64},
                       {.part = "in_proj_a", .bits = 0},
                       {.part = "self_attn.k_proj", .bits = 3, .group = 32},
                       {.part = "mtp.", .bits = 5, .group = 32}};
  options.dtype = DType::kF16;
  return options;
}

SynthOptions sidecar() {
  SynthOptions options = affine(4, 32);
  options.mtp = SynthMtp::kSidecar;
  return options;
}

std::vector<Variant> make_variants() {
  const SynthShape r1 = micro_shape("micro-r1");
  const SynthShape r3 = micro_shape("micro-r3");
  const SynthShape r8 = micro_shape("micro-r8");
  const SynthShape moe16 = micro_shape("micro-moe16");
  const SynthShape moe256 = micro_shape("micro-moe256");
  return {
      {"r1-affine2g64", r1, affine(2, 64)},
      {"r1-affine3g64", r1, affine(3, 64)},
      {"r3-affine4g32", r3, affine(4, 32)},
      {"r8-affine4g128", r8, affine(4, 128)},
      {"r1-affine5g64", r1, affine(5, 64)},
      {"r3-affine6g64", r3, affine(6, 64)},
      {"r8-affine8g32", r8, affine(8, 32)},
      {"r3-mixture-f16", r3, mixture()},
      {"r8-sidecar", r8, sidecar()},
      {"moe16-affine4g64", moe16, affine(4, 64)},
      {"moe256-affine4g32", moe256, affine(4, 32)},
      {"r1-hf-f32", r1, hugging_face(DType::kF32)},
      {"r3-hf-bf16", r3, hugging_face(DType::kBF16)},
      {"r8-hf-f16", r8, hugging_face(DType::kF16)},
      {"moe16-hf-bf16", moe16, hugging_face(DType::kBF16)},
      {"r1-mlx-bf16", r1, unquantised_mlx()},
  };
}

}  // namespace

const std::vector<Variant>& variants() {
  static const std::vector<Variant> all = make_variants();
  return all;
}

}  // namespace lockstep::testing
