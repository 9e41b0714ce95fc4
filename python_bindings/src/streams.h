#pragma once
// CUDA streams of callers, and the order of their work around an array.
#include <memory>

#include "bindings.h"

namespace plait::python {

// `stream` of a run: null for None, where the host waits for the run. 0 is the legacy default stream, as in the CUDA
// runtime. UserError for what is no stream.
void* run_stream(nb::handle stream);
// `stream` of __dlpack__ by the Python array API: 1 and None are the legacy default stream, 2 is the thread's; null for
// -1, which asks for no order. UserError for 0, which the standard refuses, and for what is no stream.
void* export_stream(nb::handle stream);

// The order of an array that a run on `stream` gives; nothing where the host waited for the run.
Queued queued_on(void* stream, Device& device, const Tensor& tensor);
// The order of an array whose producer was told `stream`, null: the legacy default stream.
Queued queued_by_producer(void* stream, const Tensor& tensor);

// Later work of `stream` waits for what writes the array, of the device's ordinal; a null stream: the host waits.
void wait_for(const Queued& array, Device& device, int ordinal, void* stream);

}  // namespace plait::python
