#pragma once
// Segments of a localized fusion as executables, for `--device reference`.
#include <memory>
#include <string>
#include <vector>

#include "device/device.h"
#include "ir/fusion.h"

namespace plait::reference {

// Names of all symbols (sizes and rank.AXIS) in the shapes and attributes that a segment mentions, sorted.
std::vector<std::string> segment_symbols(const Fusion& fusion, const Segment& segment);

// Whether an executable of the segment takes the status words of the run as its last buffer.
bool has_status(const Segment& segment);

// Evaluates one segment in double precision. launch: buffers are segment.inputs, then segment.outputs, dense row-major
// in their dtypes, then the status where there is one; integers are the values of segment_symbols, in that order.
// Collectives are refused (InternalError).
std::shared_ptr<Executable> make_executable(std::shared_ptr<const Fusion> localized, size_t segment);

}  // namespace plait::reference
