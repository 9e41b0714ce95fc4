#pragma once
// Elements of the ops that combine, move or look up elements, by their meaning in csrc/ir/ops, one at a time and in
// double. Shares no code with axes, schedules, lowering or the reference.
#include <functional>

#include "ir/fusion.h"

namespace plait::test {

using Coordinates = std::vector<int64_t>;

// What an element is made of: values of tensors, their shapes, sizes.
struct DirectContext {
  std::function<double(const TensorView*, const Coordinates&)> read;
  std::function<Coordinates(const TensorView*)> shape;
  std::function<int64_t(sym::Expr)> size;
};

double element(const DirectContext& c, const Reduce& op, const Coordinates& at);
double element(const DirectContext& c, const Var& op, const Coordinates& at);
// Ops with several results: an element of each.
std::vector<double> element(const DirectContext& c, const VarMean& op, const Coordinates& at);
std::vector<double> element(const DirectContext& c, const MaxWithArgmax& op, const Coordinates& at);
std::vector<double> element(const DirectContext& c, const MinWithArgmin& op, const Coordinates& at);
double element(const DirectContext& c, const CumSum& op, const Coordinates& at);
double element(const DirectContext& c, const CumProd& op, const Coordinates& at);
double element(const DirectContext& c, const LogCumSumExp& op, const Coordinates& at);
std::vector<double> element(const DirectContext& c, const CumMax& op, const Coordinates& at);
std::vector<double> element(const DirectContext& c, const CumMin& op, const Coordinates& at);
std::vector<double> element(const DirectContext& c, const Sort& op, const Coordinates& at);
double element(const DirectContext& c, const Permute& op, const Coordinates& at);
double element(const DirectContext& c, const Broadcast& op, const Coordinates& at);
double element(const DirectContext& c, const Squeeze& op, const Coordinates& at);
double element(const DirectContext& c, const Unsqueeze& op, const Coordinates& at);
double element(const DirectContext& c, const Reshape& op, const Coordinates& at);
double element(const DirectContext& c, const Slice& op, const Coordinates& at);
double element(const DirectContext& c, const Pad& op, const Coordinates& at);
double element(const DirectContext& c, const Cat& op, const Coordinates& at);
double element(const DirectContext& c, const Flip& op, const Coordinates& at);
double element(const DirectContext& c, const Roll& op, const Coordinates& at);
double element(const DirectContext& c, const Repeat& op, const Coordinates& at);
double element(const DirectContext& c, const Bitcast& op, const Coordinates& at);
double element(const DirectContext& c, const Gather& op, const Coordinates& at);
double element(const DirectContext& c, const IndexSelect& op, const Coordinates& at);
double element(const DirectContext& c, const Scatter& op, const Coordinates& at);
double element(const DirectContext& c, const Iota& op, const Coordinates& at);
double element(const DirectContext& c, const Size& op, const Coordinates& at);

}  // namespace plait::test
