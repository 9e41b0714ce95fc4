#pragma once
// Ranges that profilers show, by NVTX's interface: a profiler names a library of its own in NVTX_INJECTION64_PATH,
// which takes the place of the functions here. Without one a range costs a comparison.

namespace plait {

// A range of the scope; null: none.
class NvtxRange {
 public:
  explicit NvtxRange(const char* name) : open_(name != nullptr) {
    if (open_) push(name);
  }
  ~NvtxRange() {
    if (open_) pop();
  }
  NvtxRange(const NvtxRange&) = delete;

 private:
  static void push(const char* name);
  static void pop();
  bool open_;
};

}  // namespace plait
