#pragma once
// What a fusion was segmented into.
#include <string>

#include "ir/fusion.h"

namespace plait::testing {

// `s1 nest: p; s2 pointwise: y, z`: names, schedulers and outputs in execution order.
inline std::string summary(const Fusion& f) {
  std::string out;
  for (const Segment& s : f.segments) {
    out += (out.empty() ? "" : "; ") + s.name + " " + std::string(plait::name(s.schedule)) + ":";
    for (const TensorView* t : s.outputs) out += " " + t->name;
  }
  return out;
}

}  // namespace plait::testing
