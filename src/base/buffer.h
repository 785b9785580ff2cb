// Owned memory of a fixed size, aligned for every vector load.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <span>

namespace lockstep {

inline constexpr size_t kBufferAlignment = 64;

// `size` elements of a trivial type. New contents are zero.
template <typename T>
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(size_t size) : size_(size) {
    if (size == 0) return;
    data_.reset(
        static_cast<T*>(::operator new(size * sizeof(T), std::align_val_t(kBufferAlignment))));
    std::memset(static_cast<void*>(data_.get()), 0, size * sizeof(T));
  }

  T* data() { return data_.get(); }
  const T* data() const { return data_.get(); }
  size_t size() const { return size_; }
  size_t bytes() const { return size_ * sizeof(T); }
  T& operator[](size_t index) { return data_.get()[index]; }
  const T& operator[](size_t index) const { return data_.get()[index]; }
  std::span<T> span() { return {data(), size_}; }
  std::span<const T> span() const { return {data(), size_}; }

 private:
  struct Free {
    void operator()(T* pointer) const {
      ::operator delete(pointer, std::align_val_t(kBufferAlignment));
    }
  };
  std::unique_ptr<T, Free> data_;
  size_t size_ = 0;
};

}  // namespace lockstep
