#pragma once
// What errors about meshes advise, in the words of all who make fusions.
#include <string_view>

namespace plait {

inline constexpr std::string_view kDeclareMesh =
    "declare a mesh: `mesh @m (tp = t)` and `fusion @f on @m` in the text form, "
    "Mesh(\"m\", {{\"tp\", 0, \"t\"}}) in C++, mesh=plait.Mesh(tp=\"t\") in Python";

}  // namespace plait
