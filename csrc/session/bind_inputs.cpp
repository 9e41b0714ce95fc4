#include "session/bind_inputs.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "base/suggest.h"
#include "sym/facts.h"

namespace plait {

namespace {

std::string shape_text(const std::vector<int64_t>& shape) {
  std::string out;
  for (int64_t e : shape) out += (out.empty() ? "" : ", ") + std::to_string(e);
  return "[" + out + "]";
}

std::string found(const TensorView& t, const TensorMetadata& m) {
  return fmt::format("input %{}: {}, found {}{}", t.name, type_text(t), name(m.dtype), shape_text(m.shape));
}

void check_names(const Fusion& fusion, const Metadata& metadata) {
  std::vector<std::string> names;
  for (const TensorView* t : fusion.inputs()) names.push_back(t->name);
  for (const auto& [name, m] : metadata) {
    const TensorView* t = fusion.find(name);
    if (!t || t->role == TensorRole::intermediate)
      throw UserError(fmt::format("the fusion has no input `{}`", name), fmt::format("fusion @{}", fusion.name()),
                      suggestion(name, names));
  }
  for (const TensorView* t : fusion.inputs())
    if (!metadata.count(t->name))
      throw UserError(fmt::format("input %{} is missing", t->name), fmt::format("fusion @{}", fusion.name()),
                      fmt::format("give a tensor {}", type_text(*t)));
}

// Takes the defaults of the extent's open symbols where they give the value.
bool take_defaults(const Fusion& fusion, sym::Expr extent, int64_t value, Sizes& sizes) {
  Sizes with = sizes;
  for (const auto& symbol : sym::symbols(extent))
    if (!with.count(symbol)) {
      const int64_t* initial = fusion.size_let(symbol);
      if (!initial) return false;
      with[symbol] = *initial;
    }
  if (sym::evaluate(extent, {with.begin(), with.end()}) != value) return false;
  sizes = std::move(with);
  return true;
}

// Gives the one open symbol of an extent its value, where there is just one that fits.
bool solve(sym::Expr extent, int64_t value, Sizes& sizes) {
  std::string symbol;
  for (const auto& s : sym::symbols(extent))
    if (!sizes.count(s)) {
      if (!symbol.empty()) return false;
      symbol = s;
    }
  if (symbol.empty()) return true;
  sym::Environment env(sizes.begin(), sizes.end());
  auto at = [&](int64_t v) {
    env[symbol] = v;
    return sym::evaluate(extent, env);
  };
  // Extents grow with their symbols: bisect for the value, if there is one.
  int64_t lo = 0, hi = 1;
  try {
    while (at(hi) < value && hi < (int64_t{1} << 40)) hi *= 2;
    while (lo < hi) {
      int64_t middle = lo + (hi - lo) / 2;
      if (at(middle) < value)
        lo = middle + 1;
      else
        hi = middle;
    }
    if (at(lo) != value || at(lo + 1) == value) return false;
  } catch (const UserError&) {
    return false;
  }
  sizes[symbol] = lo;
  return true;
}

// UserError for an extent that gives its open symbols no values, with those that are in force.
[[noreturn]] void refuse_extent(const Fusion& fusion, const TensorView& t, const TensorMetadata& m, size_t d,
                                const Sizes& sizes) {
  const sym::Expr e = t.extent(d);
  Sizes with = sizes;
  std::vector<std::string> open;
  size_t lets = 0;
  for (const auto& symbol : sym::symbols(e)) {
    if (sizes.contains(symbol)) continue;
    open.push_back(symbol);
    if (const int64_t* let = fusion.size_let(symbol)) with[symbol] = *let, ++lets;
  }
  const bool by_lets = open.size() > 1 && lets == open.size();  // take_defaults() tried them
  std::string values;
  for (const auto& symbol : sym::symbols(e))
    if (const Sizes& known = by_lets ? with : sizes; known.contains(symbol))
      values += fmt::format("{} {} = {}", values.empty() ? ", with" : ",", symbol, known.at(symbol));
  const std::string text = sym::print(e), which = fmt::format("{}", fmt::join(open, " or "));
  if (by_lets) {
    const int64_t value = sym::evaluate(e, {with.begin(), with.end()});
    throw UserError(fmt::format("dim {}: expected {}, got {}: {} is {}{}", d, value, m.shape[d], text, value, values),
                    found(t, m), fmt::format("give extent {}, or a size to {}", value, which));
  }
  throw UserError(fmt::format("extent {} of dim {} gives no value for {}{}", m.shape[d], d, text, values), found(t, m),
                  fmt::format("give an extent that fits, or a size to {}", which));
}

std::set<std::string> range_symbols(const TensorView& input) {
  std::set<std::string> out;
  if (!input.range) return out;
  sym::symbols(input.range->begin, out);
  sym::symbols(input.range->end, out);
  return out;
}

void check_range_symbols(const Fusion& fusion, const Sizes& sizes) {
  for (const TensorView* t : fusion.inputs())
    for (const auto& symbol : range_symbols(*t))
      if (!sizes.count(symbol))
        throw UserError(fmt::format("the range of %{} needs a value for {}", t->name, symbol),
                        fmt::format("input %{}: {} in {}..{}", t->name, type_text(*t), sym::print(t->range->begin),
                                    sym::print(t->range->end)),
                        "set the size, or give it a let");
}

// Symbols that no input has: of what the outputs need.
void check_symbols(const Fusion& fusion, const Sizes& sizes) {
  std::set<const TensorView*> needed(fusion.outputs().begin(), fusion.outputs().end());
  const auto check = [&](sym::Expr e, const Op& op) {
    if (!e || e.is_constant()) return;
    for (const std::string& symbol : sym::symbols(e))
      if (!sizes.contains(symbol))
        throw UserError(
            fmt::format("size {} has no value", symbol), describe(op),
            fmt::format("no input has it: give its value where the fusion is compiled, or let {0} = 4", symbol));
  };
  for (auto it = fusion.ops().rbegin(); it != fusion.ops().rend(); ++it) {
    const Op& op = **it;
    if (std::ranges::none_of(op.results, [&](const TensorView* t) { return needed.contains(t); })) continue;
    for (const TensorView* in : inputs(op)) needed.insert(in);
    for (const TensorView* result : op.results)
      for (sym::Expr extent : result->shape()) check(extent, op);
    if (const auto* size = as<Size>(op)) check(size->value, op);
  }
}

// Ends of slices are expressions that sizes may make less than 0.
void check_slices(const Fusion& fusion, const Sizes& sizes) {
  const sym::Environment values(sizes.begin(), sizes.end());
  const auto known = [&](sym::Expr e) {
    return std::ranges::all_of(sym::symbols(e), [&](const std::string& symbol) { return values.contains(symbol); });
  };
  for (const Op* op : fusion.ops()) {
    const auto* slice = as<Slice>(*op);
    if (slice == nullptr) continue;
    for (sym::Expr end : {slice->start, slice->stop})
      if (!sym::proven(sym::ge(end, 0)) && known(end) && sym::evaluate(end, values) < 0)
        throw UserError(fmt::format("the range is {} to {}, and {} is {}", sym::print(slice->start),
                                    sym::print(slice->stop), sym::print(end), sym::evaluate(end, values)),
                        describe(*op), "give sizes for which both ends are at least 0");
  }
}

}  // namespace

Sizes bind_sizes(const Fusion& fusion, const Metadata& metadata, const Sizes& given) {
  check_names(fusion, metadata);
  Sizes sizes = given;
  std::map<std::string, std::string> bound_by;
  for (const TensorView* t : fusion.inputs()) {
    const TensorMetadata& m = metadata.find(t->name)->second;
    if (m.dtype != t->dtype)
      throw UserError(fmt::format("dtype {} does not fit", name(m.dtype)), found(*t, m),
                      fmt::format("give a tensor of {}", name(t->dtype)));
    if (m.shape.size() != t->rank())
      throw UserError(fmt::format("expected {} dims, got {}", t->rank(), m.shape.size()), found(*t, m),
                      "give a tensor with as many dims");
    for (size_t d = 0; d < t->rank(); ++d) {
      if (m.shape[d] < 0)
        throw UserError(fmt::format("extent {} of dim {} is negative", m.shape[d], d), found(*t, m),
                        "extents are at least 0");
      if (!t->extent(d).is_symbol()) continue;
      const std::string& symbol = t->extent(d).symbol_name();
      auto [it, fresh] = sizes.emplace(symbol, m.shape[d]);
      if (fresh) bound_by[symbol] = fmt::format("%{} dim {}", t->name, d);
      if (it->second != m.shape[d])
        throw UserError(fmt::format("dim {}: expected {}, got {}: {} is {}{}", d, it->second, m.shape[d], symbol,
                                    it->second, bound_by.count(symbol) ? " by " + bound_by[symbol] : ""),
                        found(*t, m), fmt::format("give extents with one value of {}", symbol));
    }
  }
  for (const TensorView* t : fusion.inputs()) {
    const TensorMetadata& m = metadata.find(t->name)->second;
    for (size_t d = 0; d < t->rank(); ++d) {
      sym::Expr e = t->extent(d);
      if (e.is_symbol()) continue;
      if (!solve(e, m.shape[d], sizes) && !take_defaults(fusion, e, m.shape[d], sizes))
        refuse_extent(fusion, *t, m, d, sizes);
      int64_t value = sym::evaluate(e, {sizes.begin(), sizes.end()});
      if (value != m.shape[d])
        throw UserError(fmt::format("dim {}: expected {}, got {}{}", d, value, m.shape[d],
                                    e.is_constant() ? "" : fmt::format(": {} is {}", sym::print(e), value)),
                        found(*t, m), fmt::format("give extent {}", value));
    }
  }
  check_range_symbols(fusion, sizes);
  check_symbols(fusion, sizes);
  sym::check_facts(fusion.pool(), sizes);
  check_slices(fusion, sizes);
  return sizes;
}

Specialization specialize(const Sizes& sizes, const Sizes& mesh) {
  constexpr int64_t kSmall = (int64_t{1} << 31) - 1;
  Specialization out;
  for (const auto& [name, value] : mesh) out.clone.replace[name] = value;
  for (const auto& [name, value] : sizes) {
    if (mesh.count(name)) continue;
    if (value == 0) {
      out.clone.replace[name] = value;
      out.facts.pin(name, value);
      continue;
    }
    bool small = value <= kSmall;
    sym::SymbolInfo info;
    info.lo = small ? 1 : kSmall + 1;
    if (small) info.hi = kSmall;
    out.clone.facts[name] = info;
    out.facts.state(name, info);
  }
  out.key = sym::print(out.facts);
  return out;
}

namespace {

void add_symbols(const std::vector<TensorView*>& tensors, std::set<std::string>& out) {
  for (const TensorView* t : tensors)
    for (sym::Expr extent : t->shape())
      for (const auto& symbol : sym::symbols(extent)) out.insert(symbol);
}

}  // namespace

std::set<std::string> mesh_symbols(const Mesh& mesh) {
  std::set<std::string> out;
  for (const MeshAxis& axis : mesh.axes())
    if (!axis.symbol.empty()) out.insert(axis.symbol);
  return out;
}

std::set<std::string> size_symbols(const Fusion& fusion) {
  std::set<std::string> out = mesh_symbols(fusion.mesh());
  add_symbols(fusion.tensors(), out);
  for (const TensorView* t : fusion.inputs()) out.merge(range_symbols(*t));
  return out;
}

Sizes lets_of_open_symbols(const Fusion& fusion) {
  std::set<std::string> given = mesh_symbols(fusion.mesh());
  add_symbols(fusion.inputs(), given);
  Sizes out;
  for (const auto& symbol : size_symbols(fusion))
    if (const int64_t* value = fusion.size_let(symbol); value && !given.contains(symbol)) out.emplace(symbol, *value);
  return out;
}

void check_settings(const Fusion& fusion, const std::map<std::string, std::string, std::less<>>& settings,
                    const std::string& place) {
  std::set<std::string> known = size_symbols(fusion);
  for (const auto& let : fusion.dtype_lets) known.insert(let.name);
  for (const auto& let : fusion.size_lets) known.insert(let.name);
  for (const auto& [name, text] : settings)
    if (!known.contains(name))
      throw UserError(fmt::format("there is no size or dtype `{}`", name), place + name,
                      suggestion(name, {known.begin(), known.end()}));
}

void let_settings(Fusion& fusion, const std::map<std::string, std::string, std::less<>>& settings,
                  const std::string& place) {
  check_settings(fusion, settings, place);
  for (const auto& [name, text] : settings) {
    const bool dtype =
        std::ranges::any_of(fusion.dtype_lets, [&, &name = name](const auto& let) { return let.name == name; });
    if (dtype || fusion.size_let(name)) continue;
    const auto value = parse_constant(DType::i64, text);
    if (!value || value->to_int64() < 0)
      throw UserError(fmt::format("`{}` is no size", text), place + name, "sizes are whole numbers, at least 0");
    fusion.let(name, value->to_int64());
  }
}

void give_sizes(Sizes& out, const Fusion& fusion, const Sizes& given) {
  const std::set<std::string> known = size_symbols(fusion);
  for (const auto& [name, value] : given) {
    if (!known.contains(name) && !fusion.size_let(name))
      throw UserError(fmt::format("there is no size `{}`", name), fmt::format("fusion @{}", fusion.name()),
                      suggestion(name, {known.begin(), known.end()}));
    if (value < 0)
      throw UserError(fmt::format("size {} is {}", name, value), fmt::format("fusion @{}", fusion.name()),
                      "sizes are whole numbers, at least 0");
    out[name] = value;
  }
  out.merge(lets_of_open_symbols(fusion));
}

Sizes mesh_symbols(const Mesh& mesh, const DeviceMesh& devices) {
  Sizes out;
  for (size_t i = 0; i < mesh.axes().size(); ++i)
    if (!mesh.axes()[i].symbol.empty()) out[mesh.axes()[i].symbol] = devices.size(static_cast<int>(i));
  return out;
}

}  // namespace plait
