#pragma once
// A vector that keeps its first elements within itself: most polynomials have a few terms, and most proofs make many.
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <type_traits>

namespace plait::sym {

template <class T, size_t kInline>
class SmallVector {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  using value_type = T;

  SmallVector() = default;
  SmallVector(std::initializer_list<T> values) { assign(values.begin(), values.size()); }
  SmallVector(const T* first, const T* last) { assign(first, static_cast<size_t>(last - first)); }
  SmallVector(const SmallVector& other) { copy(other); }
  SmallVector(SmallVector&& other) noexcept { take(other); }
  SmallVector& operator=(const SmallVector& other) {
    if (this != &other) copy(other);
    return *this;
  }
  SmallVector& operator=(SmallVector&& other) noexcept {
    if (this != &other) take(other);
    return *this;
  }

  T* data() { return heap_ ? heap_.get() : inline_; }
  const T* data() const { return heap_ ? heap_.get() : inline_; }
  T* begin() { return data(); }
  T* end() { return data() + size_; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size_; }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T& operator[](size_t i) { return data()[i]; }
  const T& operator[](size_t i) const { return data()[i]; }
  T& back() { return data()[size_ - 1]; }

  void reserve(size_t capacity) {
    if (capacity <= capacity_) return;
    capacity = std::max(capacity, capacity_ * 2);
    auto larger = std::make_unique<T[]>(capacity);
    std::copy(begin(), end(), larger.get());
    heap_ = std::move(larger);
    capacity_ = capacity;
  }
  void push_back(T value) {
    reserve(size_ + 1);
    data()[size_++] = value;
  }
  void pop_back() { --size_; }
  void erase(T* at) {
    std::copy(at + 1, end(), at);
    --size_;
  }

 private:
  void assign(const T* values, size_t count) {
    reserve(count);
    std::copy(values, values + count, data());
    size_ = count;
  }
  void copy(const SmallVector& other) {
    if (heap_ || other.heap_) return assign(other.data(), other.size_);
    std::memcpy(inline_, other.inline_, sizeof(inline_));  // a few moves, where the used part alone would be a call
    size_ = other.size_;
  }
  // The other one is empty afterwards.
  void take(SmallVector& other) {
    heap_ = std::move(other.heap_);
    capacity_ = heap_ ? other.capacity_ : kInline;
    size_ = other.size_;
    if (!heap_) std::memcpy(inline_, other.inline_, sizeof(inline_));
    other.size_ = 0;
    other.capacity_ = kInline;
  }

  T inline_[kInline];
  std::unique_ptr<T[]> heap_;
  size_t size_ = 0, capacity_ = kInline;
};

}  // namespace plait::sym
