#include "axes/loop_tree.h"

#include <algorithm>

#include "base/error.h"

namespace plait {

std::vector<int> LoopTree::path(int loop) const {
  std::vector<int> out;
  for (; loop >= 0; loop = loops[static_cast<size_t>(loop)].parent) out.push_back(loop);
  std::reverse(out.begin(), out.end());
  return out;
}

const Op* LoopTree::scan_of_total(const Op* op) const {
  for (const auto& [scan, total] : totals)
    if (total == op) return scan;
  return nullptr;
}

Home LoopTree::home(const TensorView& tensor) const {
  const Home home = ops.at(tensor.definition).home;
  if (home != Home::memory || std::find(outputs.begin(), outputs.end(), &tensor) != outputs.end()) return home;
  return Home::logical;
}

namespace {

std::string text(const std::vector<sym::Expr>& list) {
  std::string out;
  for (sym::Expr e : list) out += (out.empty() ? "" : ", ") + (e ? sym::print(e) : "?");
  return "[" + out + "]";
}

std::string text(std::string_view what, const std::vector<RangeTerm>& terms) {
  std::string out;
  for (const RangeTerm& t : terms)
    out += fmt::format("{}0 <= {} < {}", out.empty() ? "" : " and ", sym::print(t.value), sym::print(t.bound));
  return out.empty() ? "" : fmt::format(" {}({})", what, out);
}

class Printer {
 public:
  explicit Printer(const LoopTree& tree) : tree_(tree) {}
  std::string run() {
    if (tree_.later.empty()) {
      print(tree_.items, 0);
      return std::move(out_);
    }
    phase(tree_.items);
    for (const std::vector<TreeItem>& items : tree_.later) phase(items);
    return std::move(out_);
  }

 private:
  void phase(const std::vector<TreeItem>& items) {
    line(0, "phase {");
    print(items, 1);
    line(0, "}");
  }

  void line(size_t depth, const std::string& text) { out_ += std::string(2 * depth, ' ') + text + "\n"; }

  static std::string names(const Op& op) {
    std::string out;
    for (const TensorView* t : op.results) out += (out.empty() ? "%" : ", %") + t->name;
    return out;
  }

  std::string target(const TensorView& t, const PlacedOp& p) const {
    switch (tree_.home(t)) {
      case Home::value:
        return "%" + t.name + (tree_.cross.contains(&t) ? " kept" + text(tree_.cross.at(&t).index) : "");
      case Home::buffer:
        return fmt::format("%{}{}", t.name, text(p.index));
      case Home::logical:
        return fmt::format("%{} logical{}", t.name, text(p.own));
      case Home::memory:
        return fmt::format("%{} memory{}", t.name, text(p.own));
    }
    __builtin_unreachable();
  }

  std::string targets(const PlacedOp& p) const {
    std::string out;
    for (const TensorView* t : p.op->results) out += (out.empty() ? "" : ", ") + target(*t, p);
    return out;
  }

  std::string reads(const PlacedOp& p) const {
    std::string out;
    const std::vector<TensorView*> in = inputs(*p.op);
    for (size_t i = 0; i < in.size(); ++i) {
      const PlacedOperand& o = p.operands[i];
      const bool local = in[i]->definition != nullptr && tree_.ops.contains(in[i]->definition);
      const Home home = local ? tree_.home(*in[i]) : Home::memory;
      out += fmt::format("{}%{}", out.empty() ? "" : ", ", in[i]->name);
      if (home == Home::buffer) out += text(o.buffer);
      if (home == Home::logical || home == Home::memory) out += text(o.at);
      out += text("read", o.read);
    }
    return out;
  }

  void print(const TreeItem& item, size_t depth) {
    if (item.kind == TreeItem::Kind::loop) {
      const TreeLoop& l = tree_.loops[static_cast<size_t>(item.loop)];
      const std::string how = l.parallel == ParallelType::serial ? "" : fmt::format(" {}", name(l.parallel));
      line(depth, fmt::format("for {} < {}{}{}{}", sym::print(l.var), sym::print(l.extent), how,
                              l.reduction ? " reduction" : "", l.order == LoopOrder::backward ? " backward" : ""));
      return print(l.items, depth + 1);
    }
    const PlacedOp& p = tree_.ops.at(item.op);
    const bool sums = !p.reduced.empty();
    switch (item.kind) {
      case TreeItem::Kind::alloc:
        return line(depth, fmt::format("alloc {}: {}", names(*p.op), text(p.dims)));
      case TreeItem::Kind::init:
        if (const auto at = tree_.begins.find(p.op); at != tree_.begins.end())
          return line(depth, fmt::format("init {} from {}{}", names(*p.op), names(*tree_.totals.at(p.op)),
                                         text(at->second.index)));
        return line(depth, fmt::format("init {}{}", names(*p.op), is_scan(p.op->kind) ? "" : text("write", p.write)));
      case TreeItem::Kind::save:
        return line(depth, fmt::format("save {} to part{}{}", names(*p.op), text(tree_.parts.at(p.op).index),
                                       text("write", p.write)));
      case TreeItem::Kind::merge: {
        const TreeLoop& l = tree_.loops[static_cast<size_t>(item.loop)];
        const char* what = tree_.is_total(p.op) ? "carry" : "merge";
        const auto online = tree_.online.find(p.op);
        return line(
            depth,
            fmt::format("{} {} of parts {} < {}{}{}", what, names(*p.op), sym::print(l.var), sym::print(l.extent),
                        online != tree_.online.end() ? " from " + names(*online->second) : "", text("write", p.write)));
      }
      case TreeItem::Kind::part:
        return line(depth, fmt::format("part {}{}", names(*p.op), text("write", p.write)));
      case TreeItem::Kind::finish:
        return line(depth, fmt::format("finish {}{}{}", targets(p), text("write", p.write), text("once", p.once)));
      default:
        return line(depth, fmt::format("{} {} {}({}){}{}", sums ? names(*p.op) : targets(p), sums ? "<-" : "=",
                                       text_name(*p.op), reads(p), text("write", p.write),
                                       sums ? text("reduce", p.reduce) : text("once", p.once)));
    }
  }

  void print(const std::vector<TreeItem>& items, size_t depth) {
    for (const TreeItem& i : items) print(i, depth);
  }

  const LoopTree& tree_;
  std::string out_;
};

}  // namespace

std::string LoopTree::print() const { return Printer(*this).run(); }

}  // namespace plait
