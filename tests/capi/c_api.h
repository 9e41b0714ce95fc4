#pragma once
// Shorthand over the C ABI for its tests: handles that free themselves, tensors over vectors.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "capi/dlpack.h"
#include "capi/plait_c.h"

namespace plait::testing {

struct Free {
  void operator()(plait_error* p) const { plait_error_free(p); }
  void operator()(plait_text* p) const { plait_text_free(p); }
  void operator()(plait_fusion* p) const { plait_fusion_free(p); }
  void operator()(plait_program* p) const { plait_program_free(p); }
  void operator()(DLManagedTensorVersioned* p) const { p->deleter(p); }
};
template <class T>
using Owned = std::unique_ptr<T, Free>;

inline std::string words(plait_error* error) {
  const Owned<plait_error> owned(error);
  if (!error) return "";
  return std::to_string(plait_error_code(error)) + ": " + plait_error_what(error) + " | " + plait_error_where(error) +
         " | " + plait_error_remedy(error);
}

#define EXPECT_OK(call) EXPECT_EQ(words(call), "")
#define ASSERT_OK(call) ASSERT_EQ(words(call), "")

inline Owned<plait_fusion> parsed(const std::string& text) {
  plait_fusion* out = nullptr;
  EXPECT_OK(plait_fusion_parse(text.c_str(), nullptr, nullptr, 0, &out));
  return Owned<plait_fusion>(out);
}

inline Owned<plait_program> compiled(const plait_fusion* fusion, const char* device = "cpu", int64_t ranks = 0,
                                     const char* comm = nullptr) {
  plait_compile_options options = {};
  options.struct_size = sizeof(options);
  options.device = device;
  options.ranks = ranks;
  options.comm = comm;
  plait_program* out = nullptr;
  EXPECT_OK(plait_compile(fusion, &options, &out));
  return Owned<plait_program>(out);
}

inline std::string text_of(plait_text* text) {
  const Owned<plait_text> owned(text);
  return {plait_text_data(text), plait_text_size(text)};
}

// A DLTensor over values of this object.
template <class T>
struct Values {
  std::vector<T> data;
  std::vector<int64_t> shape, strides;
  DLTensor tensor = {};
  Values(std::vector<T> values, std::vector<int64_t> extents, plait_dtype dtype, std::vector<int64_t> steps = {})
      : data(std::move(values)), shape(std::move(extents)), strides(std::move(steps)) {
    tensor.data = data.data();
    tensor.device = {kDLCPU, 0};
    tensor.ndim = static_cast<int32_t>(shape.size());
    tensor.dtype = dtype;
    tensor.shape = shape.data();
    tensor.strides = strides.empty() ? nullptr : strides.data();
  }
  Values(const Values&) = delete;
};

inline constexpr plait_dtype kF32 = {2, 32, 1}, kI64 = {0, 64, 1}, kBool = {6, 8, 1};

template <class T>
std::vector<T> read(const DLManagedTensorVersioned& t) {
  int64_t n = 1;
  for (int d = 0; d < t.dl_tensor.ndim; ++d) n *= t.dl_tensor.shape[d];
  const T* first = reinterpret_cast<const T*>(static_cast<char*>(t.dl_tensor.data) + t.dl_tensor.byte_offset);
  return {first, first + n};
}

// Runs a program of one output.
inline Owned<DLManagedTensorVersioned> run(plait_program* program, const std::vector<plait_input>& inputs,
                                           const plait_run_options* options = nullptr) {
  DLManagedTensorVersioned* out = nullptr;
  EXPECT_OK(plait_program_run(program, inputs.data(), inputs.size(), options, &out, 1));
  return Owned<DLManagedTensorVersioned>(out);
}

}  // namespace plait::testing
