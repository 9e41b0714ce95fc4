#include "ir/fusion.h"

#include <algorithm>
#include <set>

#include "base/error.h"

namespace plait {

namespace {

bool is_identifier(std::string_view text) {
  if (text.empty() || (text[0] >= '0' && text[0] <= '9')) return false;
  return std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

}  // namespace

Fusion::Fusion(Mesh mesh, std::string name)
    : name_(std::move(name)), mesh_(std::move(mesh)), pool_(std::make_shared<sym::Pool>()) {}

Fusion::~Fusion() = default;

sym::Expr Fusion::Extent::resolve(Fusion& fusion) const {
  if (expr_) return sym::import(fusion.pool(), expr_);
  if (text_.empty()) return fusion.pool().constant(value_);
  auto parsed = sym::parse(fusion.pool(), text_);
  for (const auto& symbol : sym::symbols(parsed)) fusion.pool().symbol(symbol, {.lo = 0});
  return sym::parse(fusion.pool(), text_);
}

TensorView* Fusion::new_tensor(std::string name, std::vector<sym::Expr> shape, DType dtype, TensorRole role) {
  PLAIT_CHECK(!by_name_.count(name), "tensor %{} exists already", name);
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
  by_name_[t.name] = &t;
  return &t;
}

TensorView* Fusion::input(std::string name, const std::vector<Extent>& shape, DType dtype) {
  if (!is_identifier(name))
    throw UserError(fmt::format("`{}` is no name", name), fmt::format("fusion @{}", name_),
                    "names are letters, digits and _, not starting with a digit");
  if (by_name_.count(name))
    throw UserError(fmt::format("%{} is defined twice", name), fmt::format("fusion @{}", name_), "rename one of them");
  std::vector<sym::Expr> extents;
  for (const auto& e : shape) {
    extents.push_back(e.resolve(*this));
    if (sym::bounds(extents.back()).hi < 0 || (extents.back().is_constant() && extents.back().value() < 0))
      throw UserError(fmt::format("extent {} is negative", sym::print(extents.back())),
                      fmt::format("%{} dim {}", name, extents.size() - 1), "extents are at least 0");
  }
  inputs_.push_back(new_tensor(std::move(name), extents, dtype, TensorRole::input));
  return inputs_.back();
}

TensorView* Fusion::parameter(std::string name, const std::vector<Extent>& shape, DType dtype) {
  TensorView* t = input(std::move(name), shape, dtype);
  t->role = TensorRole::parameter;
  return t;
}

TensorView* Fusion::output(std::string name, TensorView* tensor) {
  PLAIT_CHECK(tensor && tensor->fusion == this, "output of another fusion");
  if (is_output(tensor) && tensor->name == name)
    throw UserError(fmt::format("%{} is an output twice", name), fmt::format("fusion @{}", name_), "list it once");
  if (tensor->name != name) {
    if (tensor->role != TensorRole::intermediate || is_output(tensor))
      throw UserError(fmt::format("%{} cannot be output as %{}", tensor->name, name), fmt::format("fusion @{}", name_),
                      "a tensor has one name: output it under its own, or a copy: cast(x, dtype)");
    if (by_name_.count(name))
      throw UserError(fmt::format("%{} is defined twice", name), fmt::format("fusion @{}", name_),
                      "rename one of them");
    if (!is_identifier(name))
      throw UserError(fmt::format("`{}` is no name", name), fmt::format("fusion @{}", name_),
                      "names are letters, digits and _, not starting with a digit");
    by_name_.erase(tensor->name);
    tensor->name = std::move(name);
    by_name_[tensor->name] = tensor;
  }
  outputs_.push_back(tensor);
  return tensor;
}

void Fusion::let(std::string name, int64_t value) {
  if (value < 0)
    throw UserError(fmt::format("size {} = {} is negative", name, value), fmt::format("fusion @{}", name_),
                    "sizes are at least 0");
  pool_->symbol(name, {.lo = 0});
  for (auto& l : size_lets)
    if (l.name == name) {
      l.value = value;
      return;
    }
  size_lets.push_back({std::move(name), value});
}

TensorView* Fusion::add_tensor(std::string hint, std::vector<sym::Expr> shape, DType dtype) {
  return new_tensor(unique_name(hint), std::move(shape), dtype, TensorRole::intermediate);
}

void Fusion::attach(std::unique_ptr<Op> op, TensorView* out) {
  PLAIT_CHECK(out->fusion == this && !out->definition, "%{} has a definition already", out->name);
  op->id = static_cast<uint32_t>(owned_ops_.size());
  op->out = out;
  out->definition = op.get();
  ops_.push_back(op.get());
  owned_ops_.push_back(std::move(op));
}

std::vector<TensorView*> Fusion::tensors() const {
  std::vector<TensorView*> out = inputs_;
  for (const Op* op : ops_) out.push_back(op->out);
  return out;
}

TensorView* Fusion::find(std::string_view name) const {
  auto it = by_name_.find(name);
  return it == by_name_.end() ? nullptr : it->second;
}

std::string Fusion::unique_name(const std::string& hint) const {
  std::string base = is_identifier(hint) ? hint : "t";
  if (!by_name_.count(base)) return base;
  for (int k = 1;; ++k)
    if (std::string candidate = fmt::format("{}_{}", base, k); !by_name_.count(candidate)) return candidate;
}

std::vector<Op*> Fusion::readers(const TensorView* tensor) const {
  std::vector<Op*> out;
  for (Op* op : ops_) {
    auto in = plait::inputs(*op);
    if (std::find(in.begin(), in.end(), tensor) != in.end()) out.push_back(op);
  }
  return out;
}

bool Fusion::is_output(const TensorView* tensor) const {
  return std::find(outputs_.begin(), outputs_.end(), tensor) != outputs_.end();
}

const int64_t* Fusion::size_let(std::string_view name) const {
  for (const auto& l : size_lets)
    if (l.name == name) return &l.value;
  return nullptr;
}

}  // namespace plait
