#pragma once
// A compiled fusion as Python holds it.
#include <mutex>
#include <shared_mutex>

#include "bindings.h"
#include "capi/dlpack.h"

namespace plait::python {

// A result of an adapter's: an output, or a part of its memory as strides say.
struct ResultView {
  size_t output = 0;
  bool whole = true;
  std::vector<int64_t> shape, strides;
  int64_t offset = 0;  // of the first element, in elements, as strides are
};

struct Program {
  std::shared_mutex mutex;  // runs share it, one thread at a time asks
  CompileOptions options;
  std::unique_ptr<Fusion> fusion;  // as given
  DumpSink dumps;
  std::unique_ptr<Compiled> compiled;
  Device* device = nullptr;
  std::vector<ResultView> results;  // of _run_capsules: the outputs, if nothing else was asked for
  const DLPackExchangeAPI* exchange = nullptr;  // of tensors that _run_tensors takes, and their type
  nb::object tensor_type = {};
};

// Runs fn with the program locked and Python's lock released; in that order no thread waits for one that waits.
template <class Lock = std::unique_lock<std::shared_mutex>, class Fn>
auto locked(Program& program, Fn&& fn) {
  const LogFlush flush;  // when Python's lock is held again
  const nb::gil_scoped_release released;
  const Lock lock(program.mutex);
  return fn();
}

// The tensor as a result names it. InternalError: the view does not lie in it.
Tensor viewed(Tensor tensor, const ResultView& view);
// What adapters of frameworks call.
void bind_adapters(nb::class_<Program>& programs);
// What people look at: traces and pages.
void bind_looks(nb::module_& m, nb::class_<Program>& programs);

}  // namespace plait::python
