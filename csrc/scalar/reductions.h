#pragma once
// Reductions as one algebra: a state of one or more values, its identity, an element that becomes a part of it, and two
// states that become one. The same formulas serve a loop, vector lanes, parts of several tasks and a second kernel.
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "scalar/constant.h"
#include "scalar/dtype.h"
#include "scalar/pointwise.h"

namespace plait {

enum class Combine : uint8_t {
#define X(name, ...) name,
#include "scalar/reductions.def"
#undef X
};

inline constexpr int kCombineCount = 0
#define X(name, ...) +1
#include "scalar/reductions.def"
#undef X
    ;

std::string_view name(Combine combine);
std::optional<Combine> parse_combine(std::string_view text);

// The one that is this function of two; none where it is no combination.
std::optional<Combine> combine_of(Pointwise function);

// Values of the state: those that scalar/reductions.def names, in its order.
int state_size(Combine combine);
// Whether it keeps the position of an element as well: an element is then the value and its i64 position.
bool has_position(Combine combine);

// Dtypes of the state for elements of a dtype: accumulation_type for sums, products and floats; compute_type (i64 for
// bool) for what is ordered, i64 for a position; bool. The count of a variance has the dtype of the mean.
std::vector<DType> state_types(Combine combine, DType element);
// Whether values of these dtypes can be its state: those of some element, or wider floats or integers.
bool is_state(Combine combine, const std::vector<DType>& types);

// The state of no element, in the dtypes of a state. `element` begins the order of greatest and least (of i8, greatest
// is -128); absent: the dtype of the state. Positions begin at 0, which is right where position 0 takes part.
std::vector<Constant> identity(Combine combine, const std::vector<DType>& types, std::optional<DType> element = {});

}  // namespace plait
