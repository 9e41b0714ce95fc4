#pragma once
// Runs functions of codegen/llvm/functions.h on vectors, without kernel IR around them.
#include <string>
#include <vector>

#include "codegen/llvm/functions.h"
#include "support/kernel_run.h"

namespace plait::test {

// y[i] = body(function, x0[i], ...) on whole vectors of `lanes` elements of one float dtype.
template <class Body>
KernelText function_kernel(DType dtype, size_t inputs, int lanes, Body&& body) {
  using namespace codegen::llvm;
  Module module;
  Function f(module);
  const Type vector = value_type(dtype, lanes), pointer{codegen::llvm::Scalar::ptr, 1};
  const auto buffer = [&](size_t number) {
    const Ir slot = f.define(pointer, fmt::format("getelementptr ptr, ptr %buffers, i64 {}", number));
    const Ir base = f.define(pointer, fmt::format("load ptr, {}", slot.typed()));
    return f.define(pointer, fmt::format("getelementptr {}, {}, i64 %i", vector.text(), base.typed()));
  };
  f.line("%some = icmp slt i64 %begin, %end");
  f.line("br i1 %some, label %loop, label %done");
  f.label("loop");
  f.line("%i = phi i64 [ %begin, %entry ], [ %next, %latch ]");
  std::vector<Ir> in;
  for (size_t k = 0; k < inputs; ++k) {
    const Ir from = buffer(k);
    in.push_back(f.define(vector, fmt::format("load {}, {}, align 8", vector.text(), from.typed())));
  }
  const Ir result = body(f, in), to = buffer(inputs);
  f.line(fmt::format("store {}, {}, align 8", result.typed(), to.typed()));
  f.line("br label %latch");
  f.label("latch");
  f.line("%next = add i64 %i, 1");
  f.line("%more = icmp slt i64 %next, %end");
  f.line("br i1 %more, label %loop, label %done");
  f.label("done");
  f.line("ret void");
  const std::string text =
      "define void @kernel(ptr %buffers, ptr %integers, i64 %begin, i64 %end) nounwind {\nentry:\n" + f.body() + "}\n" +
      module.text();
  return {"kernel", text, inputs + 1, 0};
}

// The last tensor is written; all have the same number of elements, a multiple of `lanes`.
inline void launch_function(const Executable& executable, const std::vector<Tensor>& tensors, int lanes) {
  std::vector<void*> buffers;
  for (const Tensor& tensor : tensors) buffers.push_back(tensor.data());
  LaunchArguments arguments;
  arguments.buffers = buffers;
  arguments.thread_extent = tensors[0].elements() / lanes;
  executable.launch(arguments);
}

}  // namespace plait::test
