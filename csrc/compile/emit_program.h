#pragma once
// From a localized, segmented fusion and its compiled segments to the program that all ranks run.
#include "compile/in_place.h"
#include "kir/kernel.h"
#include "lower/lower.h"
#include "program/program.h"

namespace plait {

// What a segment became, in the order of Fusion::segments. Collectives and copies have neither.
struct CompiledSegment {
  std::optional<LoweredKernel> kernel;  // generated
  std::vector<sym::Expr> integers;      // of its launch, in the localized fusion's pool
  KernelText text;
  KernelFacts facts;
  std::shared_ptr<Executable> executable;
};

// What ranks do where a pending value becomes whole.
CommReduce reduce_of(ReduceOp op);

// Requires segments; ensures a program that verify() accepts, with its streams and events (program/assign_streams.h).
// `in_place`: of the localized fusion's aliases.
// `ahead`: streams overlap, so that what is gathered is on its way before it is needed (program/prefetch.h).
Program build_program(const Fusion& localized, const DeviceMesh& devices, const std::vector<CompiledSegment>& segments,
                      const std::vector<InPlace>& in_place = {}, bool ahead = false);

}  // namespace plait
