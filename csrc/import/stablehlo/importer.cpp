#include "import/stablehlo/importer.h"

#include <algorithm>
#include <charconv>

#include <fmt/ranges.h>

#include "import/stablehlo/import_stablehlo.h"

namespace plait::stablehlo {

namespace {

constexpr int kMostNested = 100;  // calls and loops in import

const std::map<std::string, OpRow, std::less<>>& table() {
  static const auto rows = [] {
    std::map<std::string, OpRow, std::less<>> out;
    for (auto part : {elementwise_rows, shape_rows, product_rows, reduction_rows, indexing_rows, control_rows})
      for (const OpRow& row : part()) PLAIT_CHECK(out.emplace(row.name, row).second, "two rows of {}", row.name);
    return out;
  }();
  return rows;
}

std::string short_name(const std::string& op) { return op.starts_with("stablehlo.") ? op.substr(10) : op; }

bool is_return(const Operation& op) { return op.name == "stablehlo.return" || op.name == "func.return"; }

std::string label_of(const Operation& op) {
  return op.result.empty() ? fmt::format("line {}", op.place.line)
                           : fmt::format("%{}, line {}", op.result, op.place.line);
}

// Says how ranks share a value, and nothing of what it is.
bool is_sharding(const std::string& name) { return name.find("sharding") != name.npos || name.starts_with("sdy."); }

struct Nested {
  explicit Nested(int& depth) : depth(depth) {
    require(depth < kMostNested, "calls and regions are nested over {} deep", kMostNested);
    ++depth;
  }
  ~Nested() { --depth; }
  Nested(const Nested&) = delete;
  int& depth;
};

// A number that is a constant already is one again, so that loops can count.
TensorView* folded(ImportBuilder& builder, TensorView* t) {
  if (t->rank() != 0 || is_float(t->dtype) || !t->definition || t->definition->kind == OpKind::Full) return t;
  const auto value = builder.sizes_in(t);
  if (!value || value->size() != 1 || !(*value)[0].is_constant()) return t;
  const Constant number = Constant::from_int64(t->dtype, (*value)[0].value());  // modulo 2^bits
  return t->dtype == DType::u64 ? full(*t->fusion, {}, number.bits, t->dtype)
                                : full(*t->fusion, {}, number.to_int64(), t->dtype);
}

}  // namespace

const OpRow* find_op(std::string_view name) {
  const auto found = table().find(name);
  return found == table().end() ? nullptr : &found->second;
}

std::vector<std::string> op_names() {
  std::vector<std::string> out;
  for (const auto& [name, row] : table()) out.push_back(name);
  return out;
}

const Values* Scope::find(const std::string& name) const {
  const auto found = values.find(name);
  if (found != values.end()) return &found->second;
  return outer ? outer->find(name) : nullptr;
}

Importer::Importer(const Module& module, const ImportOptions& options)
    : module_(module), options_(options), builder_(options) {}

const Function& Importer::function(const std::string& name) const {
  const auto found = module_.functions.find(name);
  require(found != module_.functions.end(), "there is no function @{}", name);
  return found->second;
}

const Function& Importer::main() const {
  if (module_.functions.contains("main")) return function("main");
  if (module_.functions.empty())
    throw UserError("the module has no functions", options_.file, "give a module as jax prints it");
  if (module_.functions.size() != 1)
    throw UserError(fmt::format("the module has no function @main but {} others", module_.functions.size()),
                    options_.file, "give a module with one function, or one that is called @main");
  return module_.functions.begin()->second;
}

// All ops that there are no rows for, wherever they stand.
void Importer::check_region(const Region& region) {
  for (const Operation& op : region.operations) {
    for (const auto& [name, value] : op.attributes)
      if (is_sharding(name)) left_out_.insert(name);
    const std::string name = short_name(op.name);
    if (name == "custom_call") {
      const auto callee = op.attributes.find("callee");
      const auto target = op.attributes.find("call_target_name");
      const std::string called = callee != op.attributes.end()   ? callee->second.text
                                 : target != op.attributes.end() ? target->second.text
                                                                 : "";
      if (called == "Sharding") {
        left_out_.insert("custom_call @Sharding");
      } else {
        problems_.note("custom_call @" + called, "custom_call", label_of(op));
        refused_.insert(&op);
      }
    } else if (!is_return(op) && !find_op(name)) {
      problems_.note("op " + name, name, label_of(op), likely_name(name, op_names()));
      refused_.insert(&op);
    }
    for (const Region& each : op.regions) check_region(each);
  }
}

void Importer::run_op(const Operation& op, Scope& scope) {
  if (!op.result.empty() && scope.values.contains(op.result))
    throw UserError(fmt::format("%{} is given twice", op.result),
                    fmt::format("{}:{}:{}", options_.file, op.place.line, op.place.column), "give each result a name");
  const auto store = [&](const Values& values) {
    if (op.result.empty()) return;
    if (op.more_results.empty())
      scope.values[op.result] = values;
    else
      scope.values[op.result] = {values.empty() ? nullptr : values[0]};
    for (size_t i = 0; i < op.more_results.size(); ++i)
      scope.values[op.more_results[i]] = {i + 1 < values.size() ? values[i + 1] : nullptr};
  };
  const auto spoil = [&] { store(Values(op.result_types.size(), nullptr)); };
  if (refused_.contains(&op)) return spoil();
  try {
    Call call(*this, op, scope);
    find_op(short_name(op.name))->handler(call);
    require(call.results.size() == op.result_types.size(), "{} results, and its types are {}", call.results.size(),
            op.result_types.size());
    for (size_t i = 0; i < call.results.size(); ++i) {
      TensorView*& t = call.results[i];
      if (!t) throw ReadsBad{};
      t = folded(builder_, convert_to(t, call.dtype(i)));
      if (static_shape(t) != call.shape(i))
        throw ImportRefusal(
            fmt::format("it gives [{}], and its type says {}", fmt::join(static_shape(t), ", "), call.type(i).text()),
            kValidModule);
    }
    store(call.results);
    builder_.check_growth();
  } catch (const ReadsBad&) {
    spoil();
  } catch (const UserError& e) {
    const std::string where = e.where().empty() ? "" : ", at " + e.where();
    problems_.note(e.message() + where, short_name(op.name), label_of(op), e.remedy());
    spoil();
  }
}

Values Importer::run(const Region& region, const Values& arguments, const Scope* outer) {
  const Nested nested(depth_);
  require(region.arguments.size() == arguments.size(), "a region of {} arguments gets {}", region.arguments.size(),
          arguments.size());
  Scope scope;
  scope.outer = outer;
  for (size_t i = 0; i < arguments.size(); ++i) scope.values[region.arguments[i]] = {arguments[i]};
  for (const Operation& op : region.operations) {
    if (!is_return(op)) {
      run_op(op, scope);
      continue;
    }
    Values out;
    for (const Operand& operand : op.operands) {
      const Values* found = scope.find(operand.name);
      if (!found || operand.result >= found->size())
        throw ImportRefusal(fmt::format("no op before it gives %{}", operand.name), kValidModule);
      out.push_back((*found)[operand.result]);
    }
    return out;
  }
  throw ImportRefusal("a region without a return");
}

TensorView* Importer::argument(const std::string& name, const Type& type) {
  try {
    const Numbers& shape = shape_of(type);
    const DType dtype = dtype_of(type.element);
    const auto given = options_.constants.find(name);
    if (given == options_.constants.end()) return builder_.input(name, extents_of(shape), dtype);
    const Tensor value = given->second(dtype);
    require(value.shape == shape && value.dtype == dtype, "its constant is not {}", type.text());
    return builder_.tensor_of(value, name);
  } catch (const UserError& e) {
    problems_.note(e.message(), "", "%" + name, e.remedy());
    return nullptr;
  }
}

void Importer::import() {
  for (const auto& [name, function] : module_.functions) {
    check_region(function.body);
    for (const auto* all : {&function.argument_attributes, &function.result_attributes})
      for (const Attributes& attributes : *all)
        for (const auto& [attribute, value] : attributes)
          if (is_sharding(attribute)) left_out_.insert(attribute);
  }
  const Function& f = main();
  for (const auto& [name, value] : options_.constants)
    if (std::find(f.body.arguments.begin(), f.body.arguments.end(), name) == f.body.arguments.end())
      throw UserError(fmt::format("the model has no input `{}`", name), options_.file, "name an argument of @main");
  Values arguments;
  for (size_t i = 0; i < f.body.arguments.size(); ++i)
    arguments.push_back(argument(f.body.arguments[i], f.body.types[i]));
  const Values outputs = run(f.body, arguments, nullptr);
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i]) continue;
    std::string name = outputs.size() == 1 ? "result" : fmt::format("result_{}", i);
    if (i < f.result_attributes.size())
      if (const auto info = f.result_attributes[i].find("jax.result_info");
          info != f.result_attributes[i].end() && !info->second.text.empty())
        name = info->second.text;
    builder_.output(name, outputs[i]);
  }
}

}  // namespace plait::stablehlo

namespace plait {

Imported import_stablehlo(std::string_view text, const ImportOptions& given) {
  ImportOptions options = given;
  const stablehlo::Module module = stablehlo::parse_module(text, options.file);
  if (options.name.empty()) options.name = module.name.starts_with("jit_") ? module.name.substr(4) : module.name;
  try {
    stablehlo::Importer importer(module, options);
    importer.import();
    importer.problems().raise(options.file);
    Imported out = importer.builder().finish("StableHLO");
    for (const std::string& each : importer.left_out())
      out.notes.push_back(fmt::format("{} is left out: write layouts into the fusion (docs/sharding.md)", each));
    return out;
  } catch (const ImportError&) {
    throw;
  } catch (UserError& e) {
    if (e.where().empty()) e.add_place(options.file);
    throw;
  }
}

}  // namespace plait
