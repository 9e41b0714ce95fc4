// Edits of reduce_graph that take outputs, ops, inputs, segments and annotations away. None knows an op: all work on
// fields.
#include <set>
#include <utility>

#include "base/error.h"
#include "reduce/fields.h"

namespace plait {

namespace {

// ---- Bringing an edited graph in order.

void drop_dead_ops(Fusion& fusion) {
  std::set<const TensorView*> needed(fusion.outputs().begin(), fusion.outputs().end());
  std::vector<Op*> kept;
  for (size_t i = fusion.ops().size(); i-- > 0;) {
    Op* op = fusion.ops()[i];
    if (std::none_of(op->results.begin(), op->results.end(),
                     [&](const TensorView* t) { return needed.count(t) && t->definition == op; }))
      continue;
    kept.push_back(op);
    for (const TensorView* in : inputs(*op)) needed.insert(in);
  }
  std::reverse(kept.begin(), kept.end());
  fusion.set_order(std::move(kept));
}

void infer_types(Fusion& fusion) {
  for (Op* op : fusion.ops()) {
    const std::vector<Inferred> types = infer_results(*op, fusion);
    for (size_t i = 0; i < std::min(types.size(), op->results.size()); ++i) {
      TensorView& t = *op->results[i];
      set_shape(t, types[i].shape);
      if (t.dtype == types[i].dtype) continue;
      t.dtype = types[i].dtype;
      t.dtype_alias = types[i].dtype_alias;
    }
  }
}

// Ops of a segment that are gone leave it; what it reads and gives follows from the rest.
void list_segments(Fusion& fusion) {
  if (fusion.segments.empty()) return;
  const std::set<const Op*> alive(fusion.ops().begin(), fusion.ops().end());
  for (Segment& s : fusion.segments) {
    std::erase_if(s.ops, [&](const Op* op) { return !alive.count(op); });
    s.inputs.clear();
    s.outputs.clear();
    const std::set<const Op*> own(s.ops.begin(), s.ops.end());
    std::set<const TensorView*> seen;
    for (Op* op : s.ops)
      for (TensorView* in : inputs(*op))
        if ((!in->definition || !own.count(in->definition)) && seen.insert(in).second) s.inputs.push_back(in);
    for (Op* op : s.ops)
      for (TensorView* t : op->results) {
        const auto& readers = fusion.readers(t);
        if (fusion.is_output(t) ||
            std::any_of(readers.begin(), readers.end(), [&](const Op* r) { return !own.count(r); }))
          s.outputs.push_back(t);
      }
  }
  std::erase_if(fusion.segments, [](const Segment& s) { return s.ops.empty(); });
}

void drop_repeated_outputs(Fusion& fusion) {
  std::set<const TensorView*> seen;
  std::vector<TensorView*> once = fusion.outputs();
  std::erase_if(once, [&](const TensorView* t) { return !seen.insert(t).second; });
  fusion.set_outputs(std::move(once));
}

// Those of inputs and outputs that are gone or differ by now.
void drop_stale_aliases(Fusion& fusion) {
  const auto aliases = std::exchange(fusion.aliases, {});
  for (const auto& [output, input] : aliases) try {
      fusion.alias(output, input);
    } catch (const UserError&) {}
}

Edits drop_aliases(const Fusion& fusion) {
  Edits out;
  for (const auto& [output, input] : fusion.aliases)
    if (const TensorView* t = fusion.find(output))
      out.push_back(on_tensor(*t, [](Fusion& f, TensorView& y) { f.aliases.erase(y.name); }));
  return out;
}

Edits drop_outputs(const Fusion& fusion) {
  Edits out;
  for (const TensorView* t : fusion.outputs())
    out.push_back(on_tensor(*t, [](Fusion& f, TensorView& gone) {
      std::vector<TensorView*> kept = f.outputs();
      std::erase(kept, &gone);
      f.set_outputs(std::move(kept));
    }));
  return out;
}

// One result, early in the graph, is the only output.
Edits other_outputs(const Fusion& fusion) {
  Edits out;
  for (const Op* op : fusion.ops())
    for (const TensorView* result : op->results)
      out.push_back(on_tensor(*result, [](Fusion& f, TensorView& t) { f.set_outputs({&t}); }));
  return out;
}

Edits ops_to_inputs(const Fusion& fusion) {
  Edits out;
  for (const Op* op : fusion.ops())
    out.push_back(on_op(*op, [](Fusion& f, Op& gone) {
      for (TensorView* result : gone.results) {
        TensorView& t = *result;
        t.definition = nullptr;
        t.role = TensorRole::input;
        t.domain.transforms.clear();
        t.domain.reduction.clear();
        t.layout.partial.clear();
        f.mutable_inputs().push_back(&t);
      }
    }));
  return out;
}

// Whoever reads `from` reads `to`.
void read_instead(Fusion& f, TensorView* from, TensorView* to) {
  for (Op* op : std::vector<Op*>(f.readers(from))) replace_input(*op, from, to);
  std::vector<TensorView*> outputs = f.outputs();
  std::replace(outputs.begin(), outputs.end(), from, to);
  f.set_outputs(std::move(outputs));
}

void give_way(Fusion& f, Op& op, size_t operand) {
  const auto operands = inputs(op);
  if (operand < operands.size())
    for (TensorView* result : op.results) read_instead(f, result, operands[operand]);
}

bool interchangeable(const TensorView& a, const TensorView& b) { return a.dtype == b.dtype && a.shape() == b.shape(); }

// The operand of the result's own type, or the first.
size_t best_operand(const Op& op) {
  const auto operands = inputs(op);
  for (size_t i = 0; i < operands.size(); ++i)
    if (interchangeable(*operands[i], *op.results[0])) return i;
  return 0;
}

Edits ops_to_operands(const Fusion& fusion) {
  Edits out;
  for (size_t i = fusion.ops().size(); i-- > 0;) {
    const Op& op = *fusion.ops()[i];
    if (!inputs(op).empty()) out.push_back(on_op(op, [](Fusion& f, Op& o) { give_way(f, o, best_operand(o)); }));
  }
  return out;
}

Edits ops_to_any_operand(const Fusion& fusion) {
  Edits out;
  for (const Op* op : fusion.ops())
    for (size_t k = 0; k < inputs(*op).size(); ++k)
      out.push_back(on_op(*op, [k](Fusion& f, Op& o) { give_way(f, o, k); }));
  return out;
}

Edits drop_inputs(const Fusion& fusion) {
  Edits out;
  for (const TensorView* t : fusion.inputs())
    if (fusion.readers(t).empty() && !fusion.is_output(t))
      out.push_back(on_tensor(*t, [](Fusion& f, TensorView& gone) { std::erase(f.mutable_inputs(), &gone); }));
  return out;
}

// An input gives way to an earlier one of its type.
Edits merge_inputs(const Fusion& fusion) {
  Edits out;
  const auto& all = fusion.inputs();
  for (size_t i = 1; i < all.size(); ++i)
    for (size_t k = 0; k < i; ++k) {
      if (!interchangeable(*all[k], *all[i])) continue;
      out.push_back(on_tensor(*all[i], [to = all[k]->name](Fusion& f, TensorView& from) {
        if (TensorView* other = f.find(to)) read_instead(f, &from, other);
        if (!f.is_output(&from)) std::erase(f.mutable_inputs(), &from);
      }));
      break;
    }
  return out;
}

// fn(field) for the op's operand fields that hold something which may leave: a list, or an operand that may be absent.
template <class Fn>
void for_each_loose_operand(Op& op, Fn&& fn) {
  for_each_field(op, [&](const FieldRef& field, auto& value) {
    using T = std::remove_cvref_t<decltype(value)>;
    if constexpr (std::is_same_v<T, std::vector<TensorView*>>) {
      fn(value);
    } else if constexpr (std::is_same_v<T, TensorView*>) {
      if (value && may_be_absent(field)) fn(value);
    }
  });
}

struct OperandCount {
  size_t count = 0;
  void operator()(TensorView*&) { ++count; }
  void operator()(std::vector<TensorView*>& list) { count += list.size(); }
};

// Takes operand number `index` of those away.
struct OperandLoss {
  size_t index, at = 0;
  void operator()(TensorView*& operand) {
    if (at++ == index) operand = nullptr;
  }
  void operator()(std::vector<TensorView*>& list) {
    if (index >= at && index - at < list.size() && list.size() > 1)
      list.erase(list.begin() + static_cast<long>(index - at));
    at += list.size() + 1;
  }
};

Edits drop_operands(const Fusion& fusion) {
  Edits out;
  for (Op* op : fusion.ops()) {
    OperandCount loose;
    for_each_loose_operand(*op, loose);
    for (size_t k = 0; k < loose.count; ++k)
      out.push_back(on_op(
          *op, [k](Fusion& f, Op& o) { f.edit_operands(o, [&] { for_each_loose_operand(o, OperandLoss{k}); }); }));
  }
  return out;
}

Edits drop_segments(const Fusion& fusion) {
  Edits out;
  if (fusion.segments.empty()) return out;
  out.push_back({[](Fusion& f) { f.segments.clear(); }, nullptr, {}});
  for (size_t i = 0; i < fusion.segments.size(); ++i)
    if (!is_open(fusion.segments[i].schedule))
      out.push_back({[i](Fusion& f) {
                       if (i < f.segments.size()) f.segments[i].schedule = {};
                     },
                     nullptr,
                     {}});
  return out;
}

Edits drop_annotations(const Fusion& fusion) {
  Edits out;
  for (const TensorView* t : fusion.tensors()) {
    if (annotated(*t))
      out.push_back(on_tensor(*t, [](Fusion&, TensorView& x) {
        x.layout = Layout::replicated(x.rank());
        x.layout_source = LayoutSource::open;
        x.stored.reset();
      }));
    if (t->role == TensorRole::parameter)
      out.push_back(on_tensor(*t, [](Fusion&, TensorView& x) {
        x.role = TensorRole::input;
        x.stored.reset();
      }));
    if (t->stored) out.push_back(on_tensor(*t, [](Fusion&, TensorView& x) { x.stored.reset(); }));
    if (!t->domain.transforms.empty())
      out.push_back(on_tensor(*t, [](Fusion&, TensorView& x) { x.domain.transforms.clear(); }));
    if (!t->domain.strided.empty())
      out.push_back(on_tensor(*t, [](Fusion&, TensorView& x) { x.domain.strided.clear(); }));
    if (!is_row_major(t->domain))
      out.push_back(on_tensor(*t, [](Fusion&, TensorView& x) {
        std::sort(x.domain.allocation.begin(), x.domain.allocation.end());
        x.domain.strided.clear();
      }));
  }
  return out;
}

// Pieces and pending reductions one by one; granules of 1.
Edits simplify_layouts(const Fusion& fusion) {
  Edits out;
  for (const TensorView* t : fusion.tensors())
    for (bool stored : {false, true}) {
      if (stored && !t->stored) continue;
      const auto at = [stored](TensorView& x) { return stored ? (x.stored ? &*x.stored : nullptr) : &x.layout; };
      const Layout& layout = stored ? *t->stored : t->layout;
      for (size_t d = 0; d < layout.dims.size(); ++d)
        for (size_t p = 0; p < layout.dims[d].pieces.size(); ++p)
          for (bool drop : {true, false})
            out.push_back(on_tensor(*t, [at, d, p, drop](Fusion&, TensorView& x) {
              Layout* found = at(x);
              if (!found || d >= found->dims.size() || p >= found->dims[d].pieces.size()) return;
              auto& pieces = found->dims[d].pieces;
              if (drop)
                pieces.erase(pieces.begin() + static_cast<long>(p));
              else
                pieces[p].granule = 1;
              found->normalize();
            }));
      for (const auto& [axis, reduce] : layout.partial)
        out.push_back(on_tensor(*t, [at, axis = axis](Fusion&, TensorView& x) {
          if (Layout* found = at(x)) found->partial.erase(axis);
        }));
    }
  return out;
}

}  // namespace

std::span<const EditList> edit_lists() {
  static const std::vector<EditList> lists = [] {
    std::vector<EditList> out = {
        {"outputs", true, drop_outputs},         {"aliases", true, drop_aliases},
        {"one output", false, other_outputs},    {"ops", true, ops_to_inputs},
        {"operands", true, ops_to_operands},     {"operands", false, ops_to_any_operand},
        {"inputs", true, drop_inputs},           {"inputs", true, merge_inputs},
        {"operands", true, drop_operands},       {"segments", true, drop_segments},
        {"annotations", true, drop_annotations}, {"annotations", true, simplify_layouts},
    };
    const auto types = type_edit_lists();
    out.insert(out.end(), types.begin(), types.end());
    return out;
  }();
  return lists;
}

std::unique_ptr<Fusion> edited(const Fusion& fusion, std::span<const GraphEdit> edits) {
  try {
    CloneOptions how;
    for (const GraphEdit& edit : edits)
      for (const auto& [symbol, value] : edit.constants) how.replace[symbol] = value;
    std::unique_ptr<Fusion> work = clone(fusion, how);
    for (const GraphEdit& edit : edits)
      if (edit.apply) edit.apply(*work);
    if (work->outputs().empty()) return nullptr;
    drop_repeated_outputs(*work);
    drop_dead_ops(*work);
    infer_types(*work);
    drop_stale_aliases(*work);
    list_segments(*work);
    std::string text = print(*work);
    for (const GraphEdit& edit : edits)
      if (edit.apply_to_text) text = edit.apply_to_text(std::move(text));
    return parse_fusion(text);
  } catch (const Error&) {  // the rules of an op, or of the text form, refuse it
    return nullptr;
  }
}

}  // namespace plait
