#include "axes/read_through.h"

#include <algorithm>
#include <map>

#include "axes/own_recipe.h"
#include "base/error.h"
#include "ir/factors.h"

namespace plait {

std::vector<int> unmoved_dims(const Op& op, size_t operand) {
  const TensorView& in = *inputs(op)[operand];
  std::vector<int> out(in.rank(), -1);
  if (const auto* reshape = as<Reshape>(op)) {
    const std::vector<sym::Expr> from = in.shape(), to = reshape->out()->shape();
    for (const DimGroup& g : reshape_groups(from, to))
      if (g.in_end == g.in + 1 && g.out_end == g.out + 1 && from[g.in] == to[g.out])
        out[g.in] = static_cast<int>(g.out);
    return out;
  }
  for (const Factor& f : factors(op)) {
    const bool scaled = f.result_scale != 1 || !f.operand_scale.empty();
    if (scaled || !f.keeps_places() || f.result_dim[0] < 0 || operand >= f.operand_dim.size() ||
        f.operand_dim[operand] < 0)
      continue;
    out[static_cast<size_t>(f.operand_dim[operand])] = f.result_dim[0];
  }
  return out;
}

namespace {

class Paths {
 public:
  explicit Paths(const std::set<const Op*>& reads) : reads_(reads) {}

  void follow(size_t operand, const TensorView& t, std::vector<int> dims) {
    const Op* op = t.definition;
    if (op == nullptr || !reads_.contains(op)) return arrive(operand, t, std::move(dims));
    auto& seen = seen_[{operand, &t}];
    if (std::find(seen.begin(), seen.end(), dims) != seen.end()) return;
    seen.push_back(dims);
    const std::vector<TensorView*> operands = inputs(*op);
    for (size_t i = 0; i < operands.size(); ++i) {
      std::vector<int> own = unmoved_dims(*op, i);
      for (int& d : own) d = d < 0 ? -1 : dims[static_cast<size_t>(d)];
      follow(operand, *operands[i], std::move(own));
    }
  }

  std::vector<ReadThrough> out;

 private:
  void arrive(size_t operand, const TensorView& t, std::vector<int> dims) {
    for (ReadThrough& known : out) {
      if (known.operand != operand || known.tensor != &t) continue;
      for (size_t d = 0; d < dims.size(); ++d)
        if (known.dims[d] != dims[d]) known.dims[d] = -1;
      return;
    }
    out.push_back({operand, &t, std::move(dims)});
  }

  const std::set<const Op*>& reads_;
  std::map<std::pair<size_t, const TensorView*>, std::vector<std::vector<int>>> seen_;
};

}  // namespace

std::vector<ReadThrough> read_through(const Op& op, const std::set<const Op*>& reads) {
  Paths paths(reads);
  const std::vector<TensorView*> operands = inputs(op);
  for (size_t i = 0; i < operands.size(); ++i) {
    const Op* maker = operands[i]->definition;
    if (maker == nullptr || !reads.contains(maker)) continue;
    std::vector<int> dims(operands[i]->rank());
    for (size_t d = 0; d < dims.size(); ++d) dims[d] = static_cast<int>(d);
    paths.follow(i, *operands[i], std::move(dims));
  }
  return std::move(paths.out);
}

}  // namespace plait
