// What refused files cost: never more memory than twice their size and a constant.
#include <gtest/gtest.h>
#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "checkpoint/gguf/writer.h"
#include "checkpoint/json_file.h"
#include "checkpoint/testing/opened.h"

namespace {

std::atomic<size_t> live_bytes = 0;
std::atomic<size_t> peak_bytes = 0;

void* count_allocation(void* address) {
  if (address == nullptr) throw std::bad_alloc();
  const size_t now = live_bytes += malloc_usable_size(address);
  size_t peak = peak_bytes;
  while (now > peak && !peak_bytes.compare_exchange_weak(peak, now)) {
  }
  return address;
}

void count_release(void* address) {
  if (address != nullptr) live_bytes -= malloc_usable_size(address);
  std::free(address);
}

}  // namespace

// Of the whole test program: what is measured are differences.
void* operator new(size_t size) { return count_allocation(std::malloc(size)); }
void* operator new(size_t size, std::align_val_t alignment) {
  const auto align = static_cast<size_t>(alignment);
  return count_allocation(std::aligned_alloc(align, (size + align - 1) / align * align));
}
void operator delete(void* address) noexcept { count_release(address); }
void operator delete(void* address, size_t) noexcept { count_release(address); }
void operator delete(void* address, std::align_val_t) noexcept { count_release(address); }
void operator delete(void* address, size_t, std::align_val_t) noexcept { count_release(address); }

namespace lockstep {
namespace {

namespace fs = std::filesystem;

constexpr size_t kSize = 12u << 20;

// `unit` over and over, up to kSize bytes, between `begin` and `end`.
std::string repeated(const std::string& begin, const std::string& unit, const std::string& end) {
  std::string text = begin;
  text.reserve(kSize + unit.size() + end.size());
  while (text.size() < kSize) text += unit;
  return text + end;
}

// Keys that are all different.
std::string many_keys(const std::string& value) {
  std::string text = "{";
  text.reserve(kSize + 64);
  for (size_t i = 0; text.size() < kSize; ++i)
    text += "\"" + std::to_string(i) + "\":" + value + ",";
  text += "\"x\":0}";
  return text;
}

struct Hostile {
  const char* name;
  std::string text;
};

std::vector<Hostile> hostile_json() {
  return {{"numbers", repeated("[", "1,", "1]")},
          {"a cut list", repeated("[", "1,", "")},
          {"empty lists", repeated("[", "[],", "1]")},
          {"empty objects", repeated("{\"weight_map\":[", "{},", "1]}")},
          {"depth", repeated("", "[", "")},
          {"keys", many_keys("0")},
          {"keys of texts", many_keys("\"m.safetensors\"")},
          {"one text", repeated("{\"model_type\":\"", "a", "\"}")},
          {"escapes", repeated("{\"model_type\":\"", "\\u0041", "\"}")},
          {"texts", repeated("[", "\"" + std::string(900, 'a') + "\",", "1]")},
          {"spaces", repeated("[", " ", "")}};
}

// Opens the folder and says how much memory that took beyond what there was.
size_t refuse(const fs::path& folder) {
  const size_t before = live_bytes;
  peak_bytes = before;
  const auto opened = open_checkpoint(folder, {});
  EXPECT_FALSE(opened.ok());
  return peak_bytes - before;
}

void expect_cheap(const fs::path& folder, size_t size, const std::string& name) {
  const size_t used = refuse(folder);
  EXPECT_LT(used, 2 * size + kJsonSlackBytes) << name << ": " << size << " bytes";
}

TEST(RefusedMemory, OfConfigsAndIndexes) {
  for (const Hostile& hostile : hostile_json()) {
    for (const char* file :
         {"config.json", "generation_config.json", "model.safetensors.index.json"}) {
      const TempFolder folder;
      write_model(folder.path(), tiny_model(), 2);
      write_file(folder.path() / file, hostile.text);
      expect_cheap(folder.path(), hostile.text.size(), std::string(file) + " of " + hostile.name);
    }
  }
}

TEST(RefusedMemory, OfSafetensorsHeaders) {
  for (const Hostile& hostile : hostile_json()) {
    const TempFolder folder;
    write_model(folder.path(), tiny_model());
    const std::string file = raw_safetensors(hostile.text, "");
    write_file(folder.path() / "model.safetensors", file);
    expect_cheap(folder.path(), file.size(), hostile.name);
  }
  // Well-formed, with as many tensors as fit.
  std::string header = "{";
  for (size_t i = 0; header.size() < kSize; ++i) {
    header +=
        "\"" + std::to_string(i) + "\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]},";
  }
  header.back() = '}';
  const TempFolder folder;
  write_model(folder.path(), tiny_model());
  write_file(folder.path() / "model.safetensors", raw_safetensors(header, ""));
  expect_cheap(folder.path(), header.size(), "tensors");
}

TEST(RefusedMemory, OfGgufFiles) {
  const std::vector<std::string_view> texts(kSize / 8, "");
  const std::vector<int32_t> numbers(kSize / 4, 1);
  GgufWriter lists;
  lists.add("general.architecture", "qwen35");
  lists.add("tokenizer.ggml.tokens", std::span<const std::string_view>(texts));
  lists.add("tokenizer.ggml.token_type", std::span<const int32_t>(numbers));
  GgufWriter tensors;
  const int64_t shape[] = {1};
  for (size_t i = 0; i < kMaxGgufTensors; ++i) {
    tensors.add_tensor(std::to_string(i), {DType::kF32, {}}, shape);
  }
  for (const GgufWriter* writer : {&lists, &tensors}) {
    const TempFolder folder;
    std::string file = writer->header();
    file.resize(std::max<uint64_t>(file.size(), writer->file_bytes()));
    write_file(folder.path() / "m.gguf", file);
    expect_cheap(folder.path() / "m.gguf", file.size(), "GGUF");
  }
}

}  // namespace
}  // namespace lockstep
