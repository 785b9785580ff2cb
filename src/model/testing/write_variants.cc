// write_variants DIR: writes the synthetic checkpoints of variants.h, for python/make_figures.py.
#include <cstdio>
#include <filesystem>

#include "model/testing/variants.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: write_variants DIR\n");
    return 2;
  }
  for (const lockstep::testing::Variant& variant : lockstep::testing::variants()) {
    const auto report = lockstep::write_synthetic_checkpoint(
        variant.shape, std::filesystem::path(argv[1]) / variant.name, variant.options);
    if (!report.ok()) {
      std::fprintf(stderr, "%s: %s\n", variant.name.c_str(), report.error().message.c_str());
      return 1;
    }
  }
  return 0;
}
