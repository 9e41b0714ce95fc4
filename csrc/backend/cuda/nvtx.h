#pragma once
// Ranges that profilers show, where plait was built with NVTX's header.

namespace plait {

bool nvtx_built_in();

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
