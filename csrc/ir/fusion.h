#pragma once
// Fusion: the owner of a graph, its symbols, its mesh and its annotations.
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/op.h"
#include "ir/schedule.h"
#include "sym/facts.h"

namespace plait {

// A named size or dtype with its default.
struct SizeLet {
  std::string name;
  int64_t value;
  bool operator==(const SizeLet&) const = default;
};
struct DTypeLet {
  std::string name;
  DType value;
  bool operator==(const DTypeLet&) const = default;
};

// A group of ops that becomes one step: a generated kernel, a library call, a collective or a local copy.
struct Segment {
  std::string name;  // `s1`
  std::vector<TensorView*> inputs, outputs;
  std::vector<Op*> ops;  // in order
  Schedule schedule;     // open: not yet chosen
  // The segment whose launch computes this one too, in phases of its kernel; it and those that join it stand directly
  // before. Empty: a launch of its own.
  std::string joins;
};

// What the tensors of a segment say of its loops.
schedules::Manual manual_schedule(const Segment& segment);
// Makes the segment's tensors say it. UserError naming a tensor that the segment does not make, or that says otherwise.
void set_manual_schedule(const Segment& segment, const schedules::Manual& schedule);

// Ops in topological order. Tensors and ops live as long as the fusion; names are unique.
class Fusion {
 public:
  // The mesh's ranks and size symbols become symbols of the pool: 0 <= rank.AXIS < size. UserError: a name that is no
  // identifier, more than 2^31 ranks.
  explicit Fusion(Mesh mesh = {}, std::string name = "fusion");
  Fusion(const Fusion&) = delete;
  Fusion& operator=(const Fusion&) = delete;
  ~Fusion();

  // Users' side. A shape holds symbols by name, expressions as text ("4*h"), or numbers.
  class Extent {
   public:
    Extent(int64_t value) : value_(value) {}                              // NOLINT: converts on purpose
    Extent(int value) : value_(value) {}                                  // NOLINT
    Extent(const char* text) : is_text_(true), text_(text) {}             // NOLINT
    Extent(std::string text) : is_text_(true), text_(std::move(text)) {}  // NOLINT
    Extent(sym::Expr expr) : expr_(expr) {}                               // NOLINT
    // In the fusion's pool; symbols of a text are at least 0. UserError: no expression, or negative.
    sym::Expr resolve(Fusion& fusion) const;
    // The number -1: an extent that the op finds, or an end counted from the last.
    bool is_open() const { return !is_text_ && !expr_ && value_ == -1; }
    // A negative number, which some ops count from the end.
    std::optional<int64_t> negative() const {
      return !is_text_ && !expr_ && value_ < 0 ? std::optional(value_) : std::nullopt;
    }

   private:
    int64_t value_ = 0;
    bool is_text_ = false;
    std::string text_;
    sym::Expr expr_;
  };
  // Adds an input, or a parameter: an input that is a weight, with a storage layout of its own. UserError: a name that
  // is taken or no identifier, an extent that is no size, more than 64 dims.
  TensorView* input(std::string name, const std::vector<Extent>& shape, DType dtype);
  TensorView* parameter(std::string name, const std::vector<Extent>& shape, DType dtype);
  // Adds an output and names it. UserError: null, of another fusion, an output already, a name that is taken or no
  // identifier, or an input under another name.
  TensorView* output(std::string name, TensorView* tensor);
  TensorView* output(TensorView* tensor) { return output(tensor->name, tensor); }
  // The output ends in the memory of the input, whose readers see the old value. UserError: no output or input of the
  // name, an output that is an input, another dtype or shape, an input that another output ends in.
  void alias(const std::string& output, const std::string& input);
  // Default of a size symbol. UserError: negative, or a name that no symbol can have.
  void let(std::string name, int64_t value);
  // States facts about size symbols, before anything is built on them: "n: 16 in 16..4096" is a multiple of 16 in that
  // range. Sizes that contradict them are refused when they are given. UserError: no size satisfies them, or a name
  // that is no symbol's.
  void given(const sym::Facts& facts);
  // What is stated, but for what every fusion on this mesh knows: sizes are at least 0, ranks below their mesh size.
  sym::Facts given() const;

  // Compiler's side. The tensor gets a unique name from `hint`; the op goes to the end, with what it defines.
  TensorView* add_tensor(const std::string& hint, std::vector<sym::Expr> shape, DType dtype);
  template <class T>
  T* add_op(std::unique_ptr<T> op, TensorView* out) {
    return add_op(std::move(op), std::vector<TensorView*>{out});
  }
  template <class T>
  T* add_op(std::unique_ptr<T> op, std::vector<TensorView*> results) {
    T* raw = op.get();
    attach(std::move(op), std::move(results));
    return raw;
  }
  // The op becomes the definition of a tensor that another op, or none, defined: its result number `index`.
  void define(Op& op, size_t index, TensorView* tensor);
  // Takes back what was added after there were `count` tensors, with the ops that define them: nothing else reads them.
  void take_back(size_t count);
  size_t tensor_count() const { return tensors_.size(); }
  // Puts an op (already added) before another in the order; removes ops from the order.
  void set_order(std::vector<Op*> order);
  // `edit` writes operands of an op that is added already, and readers() follows: nothing else may write them.
  void edit_operands(Op& op, const std::function<void()>& edit);

  const std::string& name() const { return name_; }
  void set_name(std::string name) { name_ = std::move(name); }  // of the fusion; not checked
  const Mesh& mesh() const { return mesh_; }
  bool has_mesh() const { return !mesh_.axes().empty(); }
  sym::Pool& pool() const { return *pool_; }
  std::shared_ptr<sym::Pool> shared_pool() const { return pool_; }
  const std::vector<Op*>& ops() const { return ops_; }
  const std::vector<TensorView*>& inputs() const { return inputs_; }  // inputs and parameters, in order
  const std::vector<TensorView*>& outputs() const { return outputs_; }
  std::vector<TensorView*>& mutable_inputs() { return inputs_; }  // for passes that replace or reorder them
  void set_outputs(std::vector<TensorView*> outputs);             // all of them anew, in this order
  std::vector<TensorView*> tensors() const;                       // inputs, then results in op order
  TensorView* find(std::string_view name) const;                  // null where there is none
  // What output() has renamed the tensor of that name to; empty: nothing, or the name is another tensor's now.
  std::string now_called(std::string_view name) const;
  std::string unique_name(const std::string& hint) const;  // `hint`, or it with the first suffix that is free
  // Ops in the order that read the tensor, each once, in op order. Kept up to date: a look-up costs nothing, and the
  // list changes with the graph.
  const std::vector<Op*>& readers(const TensorView* tensor) const;
  bool is_output(const TensorView* tensor) const;  // in constant time

  std::vector<SizeLet> size_lets;
  std::vector<DTypeLet> dtype_lets;
  std::map<std::string, std::string> aliases;            // by output: the input in whose memory it ends
  std::vector<Segment> segments;                         // empty until segmented
  const int64_t* size_let(std::string_view name) const;  // default, or null

 private:
  void attach(std::unique_ptr<Op> op, std::vector<TensorView*> results);
  void claim_name(const std::string& name);
  void add_reads(Op& op);
  void drop_reads(Op& op);
  void mark_outputs(bool value);
  TensorView* new_tensor(std::string name, std::vector<sym::Expr> shape, DType dtype, TensorRole role);

  std::string name_;
  Mesh mesh_;
  std::shared_ptr<sym::Pool> pool_;
  std::deque<TensorView> tensors_;
  std::deque<std::unique_ptr<Op>> owned_ops_;
  std::vector<Op*> ops_;
  std::vector<TensorView*> inputs_, outputs_;
  std::vector<int> places_;               // of an op, by id, in the order; -1: it is not there
  std::deque<std::vector<Op*>> readers_;  // of a tensor, by id, in the order
  std::vector<bool> is_output_;           // by tensor id
  std::map<std::string, TensorView*, std::less<>> by_name_;
  std::map<std::string, std::string, std::less<>> renamed_;      // by output(): old names
  mutable std::map<std::string, int, std::less<>> next_suffix_;  // per base name: lower suffixes are taken
};

// Text form (docs/ir.md). parse(print(x)) equals x, and print(parse(print(x))) == print(x).
std::string print(const Fusion& fusion);
std::string print(const Op& op, const Fusion& fusion);  // one line, without the end of line

// What parsing a fusion is told: the name of the text in errors, other values of lets.
struct ParseOptions {
  std::string file = "<text>";
  std::map<std::string, std::string, std::less<>> set;  // overrides of lets: sizes and dtypes; others are ignored here
  std::string set_place = "--set ";                     // what errors of these say in front of a name
};
// UserError with file, line, column and what was expected.
std::unique_ptr<Fusion> parse_fusion(std::string_view text, const ParseOptions& options = {});
// One line of the text form, added to a fusion: `%y = gelu(%x)`, or `gelu(%x)`, whose results are named after the op;
// and
// `%x: f32[b, 4] {0: dp}`, `param %w: f32[4, 4]`. Errors as above; of a statement that is refused nothing stays.
std::vector<TensorView*> parse_statement(Fusion& fusion, std::string_view text, const ParseOptions& options = {});
TensorView* parse_input(Fusion& fusion, std::string_view text, const ParseOptions& options = {});

// `@m (dp = 2, tp = t)`; errors as above.
Mesh parse_mesh(std::string_view text, const ParseOptions& options = {});

// Throws InternalError naming the broken invariant (listed at the top of ir/verify.cpp).
void verify(const Fusion& fusion);

// What verify() calls with every graph that it accepts, in the whole process: nothing, unless tests set it.
using VerifyHook = void (*)(const Fusion& fusion);
void set_verify_hook(VerifyHook hook);

// A copy in a new pool. `replace` gives symbols values; `facts` states what is known of the others.
struct CloneOptions {
  std::map<std::string, int64_t, std::less<>> replace;
  std::map<std::string, sym::SymbolInfo, std::less<>> facts;
};
std::unique_ptr<Fusion> clone(const Fusion& fusion, const CloneOptions& options = {});
// The ops of a segment as a fusion of their own, in a new pool with the same facts: it reads the segment's inputs and
// gives its outputs, in order and under their names. Random ops state their offsets; no tensor has loops.
std::unique_ptr<Fusion> clone_segment(const Fusion& fusion, const Segment& segment);

// Same structure: names, types, layouts, ops, attributes, segments, lets, facts, mesh.
bool equal(const Fusion& a, const Fusion& b);

// Types and shapes of an op's results from its operands and attributes, and every error a user can make with it.
struct Inferred {
  std::vector<sym::Expr> shape;
  DType dtype;
  std::string dtype_alias;
};
std::vector<Inferred> infer_results(const Op& op, Fusion& fusion);
Inferred infer(const Op& op, Fusion& fusion);  // of an op with one result
// Completes the op, infers what it gives and adds it at the end. One name for each result, else those of
// result_names(); a name that is taken gets a number. Of a user's op that the text form cannot hold: UserError.
enum class OpFrom : uint8_t { user, compiler };
Op* emit_op(Fusion& fusion, std::unique_ptr<Op> op, const std::vector<std::string>& names = {},
            OpFrom from = OpFrom::compiler);

// Attributes as users may write them become what the node holds: dims counted from the end, all dims where none are
// given, an extent of -1, ends of a slice. Before infer, once. UserError where that cannot be done.
void complete(Op& op, Fusion& fusion);

}  // namespace plait
