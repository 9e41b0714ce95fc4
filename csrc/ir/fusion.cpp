#include "ir/fusion.h"

#include <algorithm>
#include <set>

#include "base/error.h"
#include "ir/text_limits.h"
#include "sym/text_reader.h"

namespace plait {

namespace {

constexpr int64_t kMaxRanks = int64_t{1} << 31;

bool is_identifier(std::string_view text) {
  if (text.empty() || (text[0] >= '0' && text[0] <= '9')) return false;
  return std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

void check_name(std::string_view name, const std::string& where) {
  if (!is_identifier(name))
    throw UserError(fmt::format("`{}` is no name", name), where,
                    "names are letters, digits and _, not starting with a digit");
  if (name.size() > kMaxName)
    throw UserError(fmt::format("a name of {} characters", name.size()), where,
                    fmt::format("names have at most {}", kMaxName));
}

// Of extents that are numbers; others are looked at when they are.
void check_bytes(const std::string& name, const std::vector<sym::Expr>& shape, DType dtype) {
  auto bytes = static_cast<int64_t>(size_of(dtype));
  bool too_many = false;
  for (const sym::Expr& extent : shape) {
    const std::optional<int64_t> known = extent.constant();
    if (!known || *known == 0) return;
    too_many = __builtin_mul_overflow(bytes, *known, &bytes) || too_many;
  }
  if (too_many) throw UserError(fmt::format("%{} has more than 2^63 - 1 bytes", name), "", "use smaller extents");
}

}  // namespace

Fusion::Fusion(Mesh mesh, std::string name)
    : name_(std::move(name)), mesh_(std::move(mesh)), pool_(std::make_shared<sym::Pool>()) {
  check_name(name_, "");
  if (!has_mesh()) return;
  const std::string where = fmt::format("mesh @{}", mesh_.name());
  check_name(mesh_.name(), where);
  int64_t ranks = 1;
  for (size_t i = 0; i < mesh_.axes().size(); ++i) {
    const MeshAxis& axis = mesh_.axes()[i];
    check_name(axis.name, where);
    if (axis.name == "local")
      throw UserError("a mesh axis is named `local`", where,
                      "choose another name: `local` is a piece that is not sharded");
    sym::SymbolInfo info{.lo = 0};
    if (axis.symbol.empty()) {
      info.hi = axis.size - 1;
      if (axis.size > kMaxRanks / ranks)
        throw UserError(fmt::format("the mesh has more than {} ranks", kMaxRanks), where, "choose smaller axes");
      ranks *= axis.size;
    } else {
      check_name(axis.symbol, where);
      info.below = pool_->symbol(axis.symbol, {.lo = 1});
    }
    pool_->symbol(rank_symbol(mesh_, static_cast<int>(i)), info);
  }
  for (const MeshGroup& group : mesh_.groups()) {
    check_name(group.name, where);
    if (group.name == "local")
      throw UserError("a group of mesh axes is named `local`", where,
                      "choose another name: `local` is a piece that is not sharded");
  }
}

Fusion::~Fusion() = default;

void Fusion::given(const sym::Facts& facts) {
  for (const auto& [name, row] : facts.rows()) {
    for (const auto& dtype : dtype_lets)
      if (dtype.name == name)
        throw UserError(fmt::format("`{}` is a let dtype", name), "given", "state facts about sizes");
    if (name.find('.') != std::string::npos && !pool_->find_symbol(name))
      throw UserError(fmt::format("there is no symbol `{}`", name), "given",
                      "for an axis of the mesh there is rank.AXIS");
    pool_->symbol(name, {.lo = 0});
    if (row.below.empty()) continue;
    for (const auto& symbol : sym::symbols(sym::parse(*pool_, row.below))) pool_->symbol(symbol, {.lo = 0});
  }
  facts.apply(*pool_);
}

sym::Facts Fusion::given() const {
  const sym::Facts known = sym::Facts::of(Fusion(mesh_, name_).pool()), all = sym::Facts::of(*pool_);
  sym::Facts out;
  for (const auto& [name, row] : all.rows()) {
    const auto it = known.rows().find(name);
    if (it == known.rows().end() ? row == sym::Facts::Row{.lo = 0} : row == it->second) continue;
    out.state(name, pool_->info(pool_->find_symbol(name)));
  }
  return out;
}

sym::Expr Fusion::Extent::resolve(Fusion& fusion) const {
  sym::Pool& pool = fusion.pool();
  sym::Expr out;
  if (is_text_) {
    // Facts first: expressions built before them are not simplified again.
    for (const auto& symbol : sym::symbols(sym::parse(pool, text_))) pool.symbol(symbol, {.lo = 0});
    out = sym::parse(pool, text_);
  } else {
    out = expr_ ? sym::import(pool, expr_) : pool.constant(value_);
  }
  if (sym::bounds(out).hi < 0)
    throw UserError(fmt::format("extent {} is negative", sym::print(out)), "", "extents are at least 0");
  return out;
}

TensorView* Fusion::new_tensor(std::string name, std::vector<sym::Expr> shape, DType dtype, TensorRole role) {
  PLAIT_CHECK(!by_name_.count(name), "tensor %{} exists already", name);
  check_bytes(name, shape, dtype);
  TensorView& t = tensors_.emplace_back();
  t.fusion = this;
  t.id = static_cast<uint32_t>(tensors_.size() - 1);
  t.name = std::move(name);
  t.dtype = dtype;
  t.role = role;
  for (size_t d = 0; d < shape.size(); ++d) {
    bool unit = shape[d].constant() == 1;
    t.domain.logical.push_back({shape[d], unit ? AxisKind::broadcast : AxisKind::iteration, ParallelType::serial});
    t.domain.allocation.push_back(static_cast<int>(d));
  }
  t.layout = Layout::replicated(shape.size());
  readers_.emplace_back();
  is_output_.push_back(false);
  by_name_[t.name] = &t;
  return &t;
}

// Makes a name free for a user: a tensor that got it from its op gets another one.
void Fusion::claim_name(const std::string& name) {
  const std::string where = fmt::format("fusion @{}", name_);
  check_name(name, where);
  auto taken = by_name_.find(name);
  if (taken == by_name_.end()) return;
  TensorView* holder = taken->second;
  if (!holder->named_by_op) throw UserError(fmt::format("%{} is defined twice", name), where, "rename one of them");
  std::string other = unique_name(name);
  by_name_.erase(taken);
  holder->name = other;
  by_name_[other] = holder;
}

TensorView* Fusion::input(std::string name, const std::vector<Extent>& shape, DType dtype) {
  claim_name(name);
  std::vector<sym::Expr> extents;
  for (const auto& e : shape) {
    try {
      extents.push_back(e.resolve(*this));
    } catch (const UserError& error) {
      throw UserError(error.message(), fmt::format("%{} dim {}", name, extents.size()), error.remedy());
    }
  }
  check_text_limits(extents, "%" + name);
  inputs_.push_back(new_tensor(std::move(name), std::move(extents), dtype, TensorRole::input));
  return inputs_.back();
}

TensorView* Fusion::parameter(std::string name, const std::vector<Extent>& shape, DType dtype) {
  TensorView* t = input(std::move(name), shape, dtype);
  t->role = TensorRole::parameter;
  return t;
}

TensorView* Fusion::output(std::string name, TensorView* tensor) {
  const std::string where = fmt::format("fusion @{}", name_);
  if (!tensor) throw UserError(fmt::format("output %{} is null", name), where, "pass a tensor of this fusion");
  if (tensor->fusion != this)
    throw UserError(fmt::format("output %{} is %{} of @{}", name, tensor->name, tensor->fusion->name()), where,
                    "pass a tensor of this fusion");
  if (is_output(tensor) && tensor->name == name)
    throw UserError(fmt::format("%{} is an output twice", name), where, "list it once");
  if (tensor->name != name) {
    if (tensor->role != TensorRole::intermediate || is_output(tensor))
      throw UserError(fmt::format("%{} cannot be output as %{}", tensor->name, name), where,
                      "a tensor has one name: output it under its own, or a copy: cast(x, dtype)");
    claim_name(name);
    by_name_.erase(tensor->name);
    renamed_[tensor->name] = name;
    tensor->name = std::move(name);
    by_name_[tensor->name] = tensor;
  }
  tensor->named_by_op = false;
  outputs_.push_back(tensor);
  is_output_[tensor->id] = true;
  return tensor;
}

void Fusion::alias(const std::string& output, const std::string& input) {
  const std::string where = fmt::format("fusion @{}, output %{} aliases %{}", name_, output, input);
  const TensorView *y = find(output), *x = find(input);
  if (!y || !is_output(y)) throw UserError(fmt::format("%{} is no output", output), where, "make it one first");
  if (!x || std::find(inputs_.begin(), inputs_.end(), x) == inputs_.end())
    throw UserError(fmt::format("%{} is no input", input), where, "name an input or a parameter");
  if (y->role != TensorRole::intermediate)
    throw UserError(fmt::format("%{} is an input itself", output), where, "drop `aliases`");
  if (y->dtype != x->dtype || y->shape() != x->shape())
    throw UserError(fmt::format("%{} is {}, %{} is {}", output, type_text(*y), input, type_text(*x)), where,
                    "an output ends in memory of its own dtype and extents");
  for (const auto& [other, of] : aliases)
    if (of == input && other != output)
      throw UserError(fmt::format("%{} ends in %{} already", other, input), where, "one output for an input");
  aliases[output] = input;
}

void Fusion::let(std::string name, int64_t value) {
  if (value < 0)
    throw UserError(fmt::format("size {} = {} is negative", name, value), fmt::format("fusion @{}", name_),
                    "sizes are at least 0");
  check_name(name, fmt::format("fusion @{}", name_));
  if (parse_dtype(name))
    throw UserError(fmt::format("size {} has the name of a dtype", name), fmt::format("fusion @{}", name_),
                    "choose another name");
  for (const auto& dtype : dtype_lets)
    if (dtype.name == name)
      throw UserError(fmt::format("size {} has the name of a let dtype", name), fmt::format("fusion @{}", name_),
                      "choose another name");
  for (const auto& axis : mesh_.axes())
    if (axis.symbol == name && value < 1)
      throw UserError(fmt::format("mesh axis `{}` has size {}", axis.name, value),
                      fmt::format("mesh @{}", mesh_.name()), "sizes are at least 1");
  pool_->symbol(name, {.lo = 0});
  for (auto& l : size_lets)
    if (l.name == name) {
      l.value = value;
      return;
    }
  size_lets.push_back({std::move(name), value});
}

TensorView* Fusion::add_tensor(const std::string& hint, std::vector<sym::Expr> shape, DType dtype) {
  return new_tensor(unique_name(hint), std::move(shape), dtype, TensorRole::intermediate);
}

void Fusion::attach(std::unique_ptr<Op> op, std::vector<TensorView*> results) {
  PLAIT_CHECK(!results.empty(), "{} has no result", describe(*op));
  op->results.resize(results.size());
  for (size_t i = 0; i < results.size(); ++i) {
    TensorView* out = results[i];
    PLAIT_CHECK(out && out->fusion == this && out->role == TensorRole::intermediate, "result {} of {}", i,
                text_name(*op));
    PLAIT_CHECK(!out->definition, "%{} has a definition already", out->name);
    define(*op, i, out);
  }
  op->id = static_cast<uint32_t>(owned_ops_.size());
  places_.push_back(static_cast<int>(ops_.size()));
  ops_.push_back(op.get());
  add_reads(*op);
  owned_ops_.push_back(std::move(op));
}

void Fusion::define(Op& op, size_t index, TensorView* tensor) {
  tensor->domain.reduction.clear();  // of the op that defined it before
  tensor->definition = &op;
  op.results[index] = tensor;
}

void Fusion::take_back(size_t count) {
  while (tensors_.size() > count) {
    TensorView& last = tensors_.back();
    PLAIT_CHECK(readers(&last).empty() && !is_output(&last), "%{} is in use", last.name);
    if (Op* op = last.definition) {
      if (!ops_.empty() && ops_.back() == op) {
        drop_reads(*op);
        places_[op->id] = -1;
        ops_.pop_back();
      } else {
        std::vector<Op*> order = ops_;
        std::erase(order, op);
        set_order(std::move(order));
      }
      for (TensorView* t : op->results) t->definition = nullptr;
      if (owned_ops_.back().get() == op) {
        owned_ops_.pop_back();
        places_.pop_back();
      }
    }
    std::erase(inputs_, &last);
    by_name_.erase(last.name);
    readers_.pop_back();
    is_output_.pop_back();
    tensors_.pop_back();
  }
}

std::vector<TensorView*> Fusion::tensors() const {
  std::vector<TensorView*> out = inputs_;
  for (const Op* op : ops_) out.insert(out.end(), op->results.begin(), op->results.end());
  return out;
}

std::string Fusion::now_called(std::string_view name) const {
  const auto it = renamed_.find(name);
  return it == renamed_.end() || find(name) ? "" : it->second;
}

TensorView* Fusion::find(std::string_view name) const {
  auto it = by_name_.find(name);
  return it == by_name_.end() ? nullptr : it->second;
}

std::string Fusion::unique_name(const std::string& hint) const {
  std::string base = is_identifier(hint) ? hint : "t";
  if (base.size() <= kMaxName && !by_name_.count(base)) return base;
  constexpr size_t kSuffix = 12;  // `_` and a number
  base.resize(std::min(base.size(), kMaxName - kSuffix));
  for (int& k = next_suffix_.emplace(base, 1).first->second;; ++k)
    if (std::string candidate = fmt::format("{}_{}", base, k); !by_name_.count(candidate)) return candidate;
}

const std::vector<Op*>& Fusion::readers(const TensorView* tensor) const {
  PLAIT_CHECK(tensor->fusion == this, "%{} is of another fusion", tensor->name);
  return readers_[tensor->id];
}

bool Fusion::is_output(const TensorView* tensor) const { return tensor->fusion == this && is_output_[tensor->id]; }

void Fusion::mark_outputs(bool value) {
  for (const TensorView* t : outputs_) is_output_[t->id] = value;
}

void Fusion::set_outputs(std::vector<TensorView*> outputs) {
  mark_outputs(false);
  outputs_ = std::move(outputs);
  mark_outputs(true);
  std::erase_if(aliases, [&](const auto& a) {
    return std::none_of(outputs_.begin(), outputs_.end(), [&](const TensorView* t) { return t->name == a.first; });
  });
}

// Where the op stands, or would, in a list of readers, which is in op order.
static std::vector<Op*>::iterator place_among(std::vector<Op*>& readers, const std::vector<int>& places, const Op& op) {
  const auto before = [&](const Op* reader, int place) { return places[reader->id] < place; };
  return std::lower_bound(readers.begin(), readers.end(), places[op.id], before);
}

void Fusion::add_reads(Op& op) {
  for (const TensorView* in : plait::inputs(op)) {
    if (!in || in->fusion != this) continue;
    std::vector<Op*>& list = readers_[in->id];
    const auto at = place_among(list, places_, op);
    if (at == list.end() || *at != &op) list.insert(at, &op);
  }
}

void Fusion::drop_reads(Op& op) {
  for (const TensorView* in : plait::inputs(op)) {
    if (!in || in->fusion != this) continue;
    std::vector<Op*>& list = readers_[in->id];
    const auto at = place_among(list, places_, op);
    if (at != list.end() && *at == &op) list.erase(at);
  }
}

void Fusion::set_order(std::vector<Op*> order) {
  ops_ = std::move(order);
  places_.assign(owned_ops_.size(), -1);
  for (auto& list : readers_) list.clear();
  for (size_t i = 0; i < ops_.size(); ++i) {
    places_[ops_[i]->id] = static_cast<int>(i);
    add_reads(*ops_[i]);
  }
}

void Fusion::edit_operands(Op& op, const std::function<void()>& edit) {
  const bool placed = places_[op.id] >= 0;
  if (placed) drop_reads(op);
  edit();
  if (placed) add_reads(op);
}

void replace_input(Op& op, const TensorView* from, TensorView* to) {
  op.results[0]->fusion->edit_operands(op, [&] {
    visit(op, [&](auto& node) {
      for_each_field(node, [&](auto, auto& value) {
        using T = std::remove_cvref_t<decltype(value)>;
        if constexpr (std::is_same_v<T, TensorView*>) {
          if (value == from) value = to;
        } else if constexpr (std::is_same_v<T, std::vector<TensorView*>>) {
          for (auto& v : value)
            if (v == from) v = to;
        }
      });
    });
  });
}

const int64_t* Fusion::size_let(std::string_view name) const {
  for (const auto& l : size_lets)
    if (l.name == name) return &l.value;
  return nullptr;
}

}  // namespace plait
