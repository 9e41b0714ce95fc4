#pragma once
// What propagation knows of a fusion while it gives layouts: who reads a tensor, and what readers asked for.
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "ir/fusion.h"
#include "shard/assign.h"

namespace plait {

class Propagation {
 public:
  // What readers asked for, by dim with the first one that did.
  struct Hint {
    Layout layout;
    std::map<size_t, const Op*> readers;
  };
  // What layouts of some tensors make of those behind them.
  struct Region {
    std::map<TensorView*, Layout> before;               // of all that have another one now
    std::vector<std::pair<const Op*, Assignment>> ops;  // that read or make one of them, and what they do
    bool whole = true;                                  // whether these are all
  };
  // Layouts that are known to go on for longer than is followed.
  using Endless = std::map<const TensorView*, std::vector<Layout>>;

  explicit Propagation(Fusion& fusion);

  Fusion& fusion() const { return fusion_; }
  const std::vector<Op*>& readers(const TensorView& t) const;
  bool is_output(const TensorView& t) const { return outputs_.contains(&t); }
  // Whether its layout does not follow from its op.
  bool pinned(const TensorView& t) const;
  Hint& hint(const TensorView& t);
  const Layout& wanted(const TensorView& t);
  // What the op does as layouts stand.
  Assignment assignment(const Op& op);

  // Gives each tensor its layout, and those behind it what follows, as far as `most` ops or to what is endless; outputs
  // stay, or do not.
  Region follow(const std::map<TensorView*, Layout>& layouts, size_t most, bool outputs_stay = false,
                const Endless& endless = {});
  // Layouts that stood before the region for those that stand now.
  static void swap(Region& region);

 private:
  Fusion& fusion_;
  std::map<const TensorView*, std::vector<Op*>> readers_;
  std::map<const Op*, size_t> places_;
  std::set<const TensorView*> outputs_;
  std::map<const TensorView*, Hint> hints_;
};

// Gives tensors another layout than their op would, where less moves around them and all behind them: pieces of a
// pending sum, where it becomes less before ranks need all of it; what several readers need, once; of tensors in
// conflict the one that readers further on ask for. Outputs keep their layouts. Requires a fixed point of propagation.
void choose_layouts(Propagation& propagation);

}  // namespace plait
