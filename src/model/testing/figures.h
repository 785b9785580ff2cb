// Reference figures of tests/figures/ (python/make_figures.py says what they hold).
#pragma once

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "checkpoint/mapped_file.h"
#include "checkpoint/safetensors.h"

namespace lockstep::testing {

class Figures {
 public:
  // tests/figures/NAME.safetensors. Stops the test program if the file is incomplete or was made
  // from other weights than those of `model`.
  Figures(const std::string& name, const std::filesystem::path& model);

  int prompts() const;
  // "p0.ids" and the like; the element type must be T.
  template <typename T>
  std::vector<T> read(const std::string& tensor) const {
    const SafetensorsEntry& entry = find(tensor);
    std::vector<T> values(entry.bytes / sizeof(T));
    std::memcpy(values.data(), file_.bytes().data() + entry.begin, entry.bytes);
    return values;
  }
  bool has(const std::string& tensor) const;

 private:
  const SafetensorsEntry& find(const std::string& tensor) const;

  MappedFile file_;
  SafetensorsHeader header_;
};

}  // namespace lockstep::testing
