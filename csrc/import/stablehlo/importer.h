#pragma once
// Ops of StableHLO as plait's, by the builders of build/build.h and build/ops.h.
#include <string_view>

#include "build/ops.h"
#include "import/builder.h"
#include "import/problems.h"
#include "import/stablehlo/module.h"

namespace plait::stablehlo {

// What an op gives: a tensor, or nothing where an op that is noted gives none.
using Values = std::vector<TensorView*>;

// Names of a region and of those around it; a null tensor: an op that is noted gives it.
struct Scope {
  std::map<std::string, Values, std::less<>> values;
  const Scope* outer = nullptr;
  const Values* find(const std::string& name) const;
};

// Thrown where an op reads what another one, which is noted, does not give.
struct ReadsBad {};

class Call;
struct OpRow {
  const char* name;  // "add"; "chlo.erf" of another dialect than StableHLO's own
  void (*handler)(Call&);
};
const OpRow* find_op(std::string_view name);
std::vector<std::string> op_names();

class Importer {
 public:
  Importer(const Module& module, const ImportOptions& options);
  void import();
  // The ops of a region inside of `outer`, its arguments bound to the values; what it returns.
  Values run(const Region& region, const Values& arguments, const Scope* outer);
  // The function of that name. ImportRefusal: there is none.
  const Function& function(const std::string& name) const;

  ImportBuilder& builder() { return builder_; }
  Fusion& fusion() { return builder_.fusion(); }
  const Problems& problems() const { return problems_; }
  const std::set<std::string>& left_out() const { return left_out_; }

 private:
  const Function& main() const;
  void check_region(const Region& region);
  void run_op(const Operation& op, Scope& scope);
  TensorView* argument(const std::string& name, const Type& type);

  const Module& module_;
  const ImportOptions& options_;
  ImportBuilder builder_;
  Problems problems_;
  std::set<const Operation*> refused_;
  std::set<std::string> left_out_;  // attributes that say how ranks share
  int depth_ = 0;
};

// Of what no lowering writes.
inline constexpr const char* kValidModule = "give a module that StableHLO's verifier takes";

// ImportRefusal where the condition is false.
template <class... Args>
void require(bool condition, fmt::format_string<Args...> what, Args&&... args) {
  if (!condition) throw ImportRefusal(fmt::format(what, std::forward<Args>(args)...));
}

using Numbers = std::vector<int64_t>;

// The dtype of `f32`, `i1`, `ui8`. ImportRefusal: plait has none like it.
DType dtype_of(const std::string& element);
// Extents. ImportRefusal: open ones, or no tensor.
const Numbers& shape_of(const Type& type);

// An op in import: its operands, attributes and results.
class Call {
 public:
  Call(Importer& importer, const Operation& op, const Scope& scope) : importer(importer), op(op), scope(scope) {}
  Importer& importer;
  const Operation& op;
  const Scope& scope;
  Values results;

  size_t count() const { return op.operands.size(); }
  TensorView* in(size_t i = 0) const;
  Values all() const;
  Fusion& fusion() { return importer.fusion(); }
  // The type of a result. ImportRefusal: there is no such one.
  const Type& type(size_t i = 0) const;
  Numbers shape(size_t i = 0) const { return shape_of(type(i)); }
  DType dtype(size_t i = 0) const { return dtype_of(type(i).element); }

  bool has(std::string_view name) const { return op.attributes.contains(name); }
  // By the first of the names that is there. ImportRefusal: none is.
  const Attribute& attribute(std::initializer_list<std::string_view> names) const;
  int64_t integer(std::initializer_list<std::string_view> names) const;
  int64_t integer(std::string_view name, int64_t otherwise) const { return has(name) ? integer({name}) : otherwise; }
  Numbers integers(std::initializer_list<std::string_view> names) const;
  // So many numbers; `otherwise` each where the attribute is absent.
  Numbers integers(std::string_view name, size_t count, int64_t otherwise) const;
  const Region& region(size_t i = 0) const;

  void give(TensorView* t) { results.push_back(t); }
  TensorView* number(double value, DType dtype) { return full(fusion(), {}, Scalar(value), dtype); }
};

// Of attributes.
int64_t integer_in(const Attribute& attribute);
Numbers integers_in(const Attribute& attribute);
Numbers integers_in(const Attributes& dictionary, std::string_view name);  // empty where it is absent

// The op of a region that is one op of its arguments ("add"), or "" where it is another; `return` of the last argument:
// "set".
std::string only_op(const Region& region);
// Two tensors by such an op. ImportRefusal: none like it.
TensorView* combined(const std::string& op, TensorView* a, TensorView* b);
TensorView* convert_to(TensorView* t, DType dtype);

// Rows by kind, one function per file ops_*.cpp.
std::vector<OpRow> elementwise_rows();
std::vector<OpRow> shape_rows();
std::vector<OpRow> product_rows();
std::vector<OpRow> reduction_rows();
std::vector<OpRow> indexing_rows();
std::vector<OpRow> control_rows();

}  // namespace plait::stablehlo
