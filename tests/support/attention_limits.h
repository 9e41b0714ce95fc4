#pragma once
// Which keys a kernel of attention leaves out.
#include <algorithm>
#include <sstream>
#include <string>

#include "plait.h"
#include "reference/draw_inputs.h"

namespace plait::testing {

// The stage `scheduled`, what of it is about keys, of a machine whose vectors have 16 lanes.
inline std::string attention_limits(const std::string& text) {
  CompileOptions how;
  how.device = "cpu";
  how.until = "scheduled";
  how.options.cpu_lanes = 16;
  const auto fusion = parse_fusion(text);
  const auto inputs = reference::draw_inputs(*fusion, {});
  std::string out;
  try {
    compile(*fusion, how).run({inputs.begin(), inputs.end()});
  } catch (const StoppedAt& stop) {
    std::istringstream lines(stop.text);
    for (std::string line; std::getline(lines, line);)
      if (line.starts_with("keys of ") || line.starts_with("queries of ")) out += line + "\n";
  }
  return out;
}

}  // namespace plait::testing
