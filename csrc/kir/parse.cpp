// One method per part of the grammar. A kernel's pool knows the facts of a symbol before anything is built on it, so
// that an expression simplifies as it did where it was printed.
#include "kir/parse.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/suggest.h"
#include "kir/facts.h"
#include "kir/parse_symbols.h"
#include "sym/text_reader.h"

namespace plait::kir {
namespace {

constexpr int kMostDepth = 200;  // of blocks within blocks

class KernelReader {
 public:
  explicit KernelReader(TextReader& in) : in_(in), symbols_(in) {}

  Kernel run() {
    kernel_.pool = std::make_shared<sym::Pool>();
    const size_t begin = in_.here();
    head();
    if (!symbols_.knows(kLane) && speaks_of_lane(in_.rest()))
      kernel_.pool->symbol(kLane, implied_of_lane(lanes_in(in_.rest())));
    in_.rewind(begin);
    head();  // again, now that all integers and their facts are known
    kernel_.phases.clear();
    if (in_.accept("phase")) {
      do phase();
      while (in_.accept("phase"));
      in_.expect("}", "after the phases");
    } else {
      kernel_.phases.emplace_back();
      block(kernel_.phases[0].body, 0);
    }
    return std::move(kernel_);
  }

 private:
  // ---- the head

  // Twice: extents of buffers speak of integers that stand behind them.
  void head() {
    first_ = !std::exchange(had_head_, true);
    kernel_.buffers.clear();
    kernel_.integers.clear();
    in_.expect("kernel", "before the kernel's name");
    in_.expect("@", "before the kernel's name");
    kernel_.name = in_.word("the kernel's name");
    in_.expect("(", "before the buffers");
    if (in_.peek() == '%') {
      do kernel_.buffers.push_back(declaration());
      while (in_.accept(","));
    }
    if (in_.accept(";")) {
      do {
        if (const sym::Expr integer = symbols_.integer(*kernel_.pool, first_)) kernel_.integers.push_back(integer);
      } while (in_.accept(","));
    }
    in_.expect(")", "after the buffers and integers");
    if (in_.accept("given")) {
      do symbols_.fact(first_);
      while (in_.accept(","));
    }
    in_.expect("target", "before cpu or cuda");
    kernel_.target = choice("a target", std::vector{TargetKind::cpu, TargetKind::cuda},
                            [](TargetKind kind) { return kind == TargetKind::cpu ? "cpu" : "cuda"; });
    kernel_.narrow = in_.accept("narrow");
    if (in_.accept("schedule")) kernel_.schedule = schedule();
    in_.expect("{", "before the statements");
    if (first_) symbols_.state(*kernel_.pool);
  }

  // Words of a schedule up to the brace, with single blanks.
  std::string schedule() {
    std::string out = in_.balanced("a schedule");
    while (in_.next_is_word()) out += " " + in_.balanced("a schedule");
    return out;
  }

  // `%x: f32[4*n] read`
  Buffer declaration() {
    Buffer out;
    out.name = in_.tensor_name();
    in_.expect(":", "before the buffer's dtype");
    out.dtype = dtype("a dtype");
    in_.expect("[", "before the buffer's extent");
    if (first_)
      symbols_.skip_expression();
    else
      out.extent = expression("an extent");
    in_.expect("]", "after the buffer's extent");
    const size_t at = in_.here();
    const std::string use = in_.word("read, replace, write, update, workspace, counter, stack or shared");
    out.written = use == "write" || use == "update";
    out.updated = use == "update";
    out.replaced = use == "replace";
    for (Space space : {Space::workspace, Space::counter, Space::stack, Space::shared})
      if (use == name(space)) out.space = space;
    if (out.is_local() && in_.accept("turned")) out.turned = in_.integer("elements of a row", 1, 1 << 16);
    if (!out.written && !out.replaced && use != "read" && out.space == Space::argument)
      in_.fail_at(at, fmt::format("`{}` is no use of a buffer", use),
                  suggestion(use, {"read", "replace", "write", "update", "workspace", "counter", "stack", "shared"}));
    return out;
  }

  // ---- words

  template <class T, class Name>
  T choice(const char* what, const std::vector<T>& all, Name&& name_of) {
    const size_t at = in_.here();
    return chosen(in_.word(what), at, what, all, name_of);
  }
  template <class T, class Name>
  T chosen(const std::string& text, size_t at, const char* what, const std::vector<T>& all, Name&& name_of) {
    std::vector<std::string> names;
    for (const T& one : all) {
      names.emplace_back(name_of(one));
      if (names.back() == text) return one;
    }
    in_.fail_at(at, fmt::format("`{}` is not {}", text, what), suggestion(text, names));
  }

  DType dtype(const char* what) {
    std::vector<DType> all;
    for (int i = 0; i < kDTypeCount; ++i) all.push_back(DType(i));
    return choice(what, all, [](DType d) { return plait::name(d); });
  }

  Combine combine() {
    std::vector<Combine> all;
    for (int i = 0; i < kCombineCount; ++i) all.push_back(Combine(i));
    return choice("a reduction", all, [](Combine c) { return plait::name(c); });
  }

  Access access() {
    using enum Access;
    const std::vector all{aligned, contiguous, reversed, splat, lanewise};
    return choice("an access", all, [](Access a) { return name(a); });
  }

  // Over symbols that the kernel has so far.
  sym::Expr expression(const char* what) {
    if (in_.accept("null")) return {};
    return in_.known_expression(*kernel_.pool, what);
  }

  // ---- values and buffers

  uint32_t id() {
    in_.expect("%", "before a value's number");
    return uint32_t(in_.integer("a value's number", 0, UINT32_MAX));
  }

  bool next_is_value() {
    const size_t at = in_.here();
    const std::string_view rest = in_.rest();
    in_.rewind(at);
    return rest.size() > 1 && rest[0] == '%' && rest[1] >= '0' && rest[1] <= '9';
  }

  Value use() {
    const size_t at = in_.here();
    const uint32_t number = id();
    const auto found = values_.find(number);
    if (found == values_.end()) in_.fail_at(at, fmt::format("%{} has no value yet", number), "define it above");
    return found->second;
  }

  std::vector<Value> uses() {
    std::vector<Value> out;
    if (!next_is_value()) return out;
    do out.push_back(use());
    while (in_.accept(","));
    return out;
  }

  // `%3: f32x8`
  Value definition() {
    Value out;
    out.id = id();
    in_.expect(":", "before the value's dtype");
    const size_t at = in_.here();
    const std::string text = in_.word("a dtype");
    const size_t x = text.rfind('x');
    const bool vector = x != std::string::npos && x > 0 && x + 1 < text.size();
    const auto dtype = parse_dtype(vector ? text.substr(0, x) : text);
    const std::string digits = vector ? text.substr(x + 1) : "1";
    const bool number =
        digits.size() <= 4 && std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; });
    if (!dtype || !number) in_.fail_at(at, fmt::format("`{}` is no type of a value", text), "write f32 or f32x8");
    out.dtype = *dtype;
    out.lanes = std::stoi(digits);
    return out;
  }

  uint32_t buffer() {
    const size_t at = in_.here();
    const std::string text = in_.tensor_name();
    std::vector<std::string> names;
    for (size_t i = 0; i < kernel_.buffers.size(); ++i) {
      if (kernel_.buffers[i].name == text) return uint32_t(i);
      names.push_back(kernel_.buffers[i].name);
    }
    in_.fail_at(at, fmt::format("there is no buffer %{}", text), suggestion(text, names));
  }

  // `%x[i + 1]`
  void element(uint32_t& number, sym::Expr& index) {
    number = buffer();
    in_.expect("[", "before the index");
    index = expression("an index");
    in_.expect("]", "after the index");
  }

  // ---- statements

  template <class T>
  static T& put(Block& body) {
    auto stmt = std::make_unique<T>();
    T& out = *stmt;
    body.push_back(std::move(stmt));
    return out;
  }
  template <class T, class Out>
  static T& put(Block& body, const Out& out) {
    T& stmt = put<T>(body);
    stmt.out = out;
    return stmt;
  }

  void phase() {
    kernel_.phases.emplace_back().beside = in_.accept("beside");
    in_.expect("{", "after `phase`");
    block(kernel_.phases.back().body, 1);
  }

  void block(Block& body, int depth) {
    if (depth > kMostDepth) in_.fail("blocks lie too deep in each other", "write fewer loops");
    while (!in_.accept("}")) statement(body, depth);
  }

  void statement(Block& body, int depth) {
    if (in_.peek() == '%') return defining(body);
    const size_t at = in_.here();
    const std::string word = in_.word("a statement or `}`");
    if (word == "for") return loop(put<For>(body), at, depth);
    if (word == "if") {
      If& s = put<If>(body);
      s.condition = expression("a condition");
      in_.expect("{", "after the condition");
      return block(s.body, depth + 1);
    }
    if (word == "last_block") {
      LastBlock& s = put<LastBlock>(body);
      element(s.buffer, s.index);
      in_.expect("of", "and the number of blocks after the counter");
      s.blocks = expression("a number of blocks");
      in_.expect("{", "after the number of blocks");
      return block(s.body, depth + 1);
    }
    if (word == "alloc") return alloc(put<Alloc>(body), at);
    if (word == "assign") {
      Assign& s = put<Assign>(body);
      s.variable = use();
      in_.expect("=", "after the variable");
      s.in = use();
      return;
    }
    if (word == "bind") return bind(put<Bind>(body));
    if (word == "store") return store(put<Store>(body));
    if (word.starts_with("atomic_")) {
      Atomic& s = put<Atomic>(body);
      using enum AtomicOp;
      s.op = chosen(word, at, "an atomic", std::vector{min, max, add}, [](AtomicOp op) { return name(op); });
      element(s.buffer, s.index);
      in_.expect("=", "after the element");
      s.in = use();
      return;
    }
    if (word == "copy_async") return copy_async(put<CopyAsync>(body));
    if (word == "load_matrix") return load_matrix(put<LoadMatrix>(body));
    if (word == "mma") return mma(put<Mma>(body));
    if (word == "commit" || word == "wait" || word == "await" || word == "sync") return waiting(body, word);
    if (word == "accumulate") return accumulate(put<Accumulate>(body));
    if (word == "merge") {
      Merge& s = put<Merge>(body);
      s.combine = combine();
      s.state = in_parentheses();
      in_.expect("with", "before the other state");
      s.in = uses();
      return;
    }
    in_.fail_at(at, fmt::format("`{}` begins no statement", word),
                suggestion(word, {"for", "if", "alloc", "assign", "bind", "store", "atomic_min", "atomic_max",
                                  "atomic_add", "copy_async", "commit", "wait", "await", "load_matrix", "mma", "sync",
                                  "last_block", "accumulate", "merge"}));
  }

  void waiting(Block& body, const std::string& word) {
    if (word == "commit") return void(put<Commit>(body));
    if (word == "wait") return void(put<Wait>(body).left = in_.integer("a number of groups", 0, kMostGroups));
    if (word == "sync")
      return void(put<Sync>(body).scope =
                      choice("a scope", std::vector{SyncScope::warp, SyncScope::block, SyncScope::cluster},
                             [](SyncScope scope) { return kir::name(scope); }));
    Await& s = put<Await>(body);
    s.buffer = buffer();
    in_.expect("from", "and a block after the counter");
    s.from = expression("a block");
  }

  void loop(For& s, size_t at, int depth) {
    const std::string name = symbols_.name();
    in_.expect("in", "after the loop variable");
    in_.expect("0", "before `..`");
    in_.expect("..", "before the extent");
    s.extent = expression("an extent");
    if (!s.extent) in_.fail_at(at, "a loop without an extent", "write `for i in 0..n {`");
    s.var = kernel_.pool->find_symbol(name);
    if (!s.var) s.var = at_place(in_, at, [&] { return kernel_.pool->symbol(name, sym::index_facts(s.extent)); });
    if (in_.accept("on")) {
      std::vector<LoopKind> all;
      for (int i = 0; i <= int(LoopKind::thread_z); ++i) all.push_back(LoopKind(i));
      s.loop = choice("a kind of loops", all, [](LoopKind kind) { return kir::name(kind); });
    }
    s.unroll = in_.accept("unroll");
    if (in_.accept("stages")) s.stages = in_.integer("a number of stages", 1, kMostGroups);
    in_.expect("{", "before the loop's statements");
    block(s.body, depth + 1);
  }

  // A buffer may be allocated again where it is declared in the same way.
  void alloc(Alloc& s, size_t at) {
    const Buffer declared = declaration();
    if (!declared.is_local())
      in_.fail_at(at, fmt::format("%{} is no local buffer", declared.name), "write `stack` or `shared`");
    for (size_t i = 0; i < kernel_.buffers.size(); ++i) {
      const Buffer& known = kernel_.buffers[i];
      if (known.name != declared.name) continue;
      if (known.dtype != declared.dtype || known.extent != declared.extent || known.space != declared.space ||
          known.turned != declared.turned)
        in_.fail_at(at, fmt::format("%{} is declared in another way above", declared.name), "give it another name");
      s.buffer = uint32_t(i);
      return;
    }
    s.buffer = uint32_t(kernel_.buffers.size());
    kernel_.buffers.push_back(declared);
  }

  void bind(Bind& s) {
    const size_t at = in_.here();
    const std::string name = symbols_.name();
    in_.expect("=", "after the symbol");
    s.in = use();
    s.var = at_place(in_, at, [&] { return kernel_.pool->symbol(name); });
  }

  sym::Expr active() { return in_.accept("active") ? expression("a number of lanes") : sym::Expr(); }

  void store(Store& s) {
    element(s.buffer, s.index);
    in_.expect("=", "after the element");
    s.in = use();
    s.access = access();
    s.active = active();
  }

  void copy_async(CopyAsync& s) {
    element(s.to, s.to_index);
    s.to_access = access();
    in_.expect("=", "after the element");
    element(s.from, s.index);
    s.access = access();
    in_.expect("of", "before the number of lanes");
    s.lanes = int(in_.integer("a number of lanes", 1, 64));
    s.active = active();
  }

  void load_matrix(LoadMatrix& s) {
    element(s.to, s.to_index);
    in_.expect("=", "after the element");
    element(s.from, s.index);
    in_.expect("of", "before the number of matrices");
    s.count = int(in_.integer("a number of matrices", 1, 4));
    s.transposed = in_.accept("transposed");
  }
  void mma(Mma& s) {
    element(s.sums, s.sums_index);
    in_.expect("with", "before the fragments");
    element(s.a, s.a_index);
    in_.expect(",", "between the fragments");
    element(s.b, s.b_index);
  }

  std::vector<Value> in_parentheses() {
    in_.expect("(", "before the values");
    std::vector<Value> out = uses();
    in_.expect(")", "after the values");
    return out;
  }

  void accumulate(Accumulate& s) {
    s.combine = combine();
    s.state = in_parentheses();
    in_.expect("with", "before the element");
    s.in = uses();
    s.active = active();
  }

  // Statements that define values.
  void defining(Block& body) {
    const size_t at = in_.here();
    std::vector<Value> out;
    do out.push_back(definition());
    while (in_.accept(","));
    in_.expect("=", "after what is defined");
    const size_t word_at = in_.here();
    const std::string word = in_.word("what defines the value");
    if (word == "start") {
      Start& s = put<Start>(body);
      s.state = out;
      s.combine = combine();
      if (in_.accept("of")) s.element = dtype("the dtype of the elements");
    } else if (word == "fold") {
      Fold& s = put<Fold>(body, out);
      s.combine = combine();
      s.state = in_parentheses();
      if (in_.accept("over")) s.threads = in_.integer("a number of threads", 1, kMostOfCluster);
      if (in_.accept("by")) s.stride = in_.integer("a number of threads", 1, kMostThreads);
    } else if (word == "prefix") {
      if (out.size() % 2 != 0) in_.fail_at(at, "`prefix` defines as many values before as of all", "");
      const auto half = out.begin() + static_cast<std::ptrdiff_t>(out.size() / 2);
      Prefix& s = put<Prefix>(body);
      s.before = {out.begin(), half};
      s.all = {half, out.end()};
      s.combine = combine();
      s.state = in_parentheses();
      in_.expect("over", "before the number of threads");
      s.threads = in_.integer("a number of threads", 2, kMostThreads);
      if (in_.accept("of")) s.element = dtype("the dtype of the elements");
    } else if (word == "transpose") {
      put<Transpose>(body, out).in = in_parentheses();
    } else {
      const char* help = "several come from `start`, `fold`, `prefix` and `transpose`";
      if (out.size() > 1) in_.fail_at(at, fmt::format("`{}` defines one value", word), help);
      one_value(body, out[0], word, word_at);
    }
    for (const Value& value : out) values_.insert_or_assign(value.id, value);
  }

  Constant constant(DType dtype) {
    const size_t at = in_.here();
    const std::string text = in_.number_text("a number");
    const auto value = parse_constant(dtype, text);
    if (!value) in_.fail_at(at, fmt::format("`{}` is no {}", text, name(dtype)), "write a number of that dtype");
    return *value;
  }

  void one_value(Block& body, Value out, const std::string& word, size_t at) {
    if (word == "variable") {
      put<Variable>(body, out).initial = constant(out.dtype);
    } else if (word == "literal") {
      put<Literal>(body, out).constant = constant(out.dtype);
    } else if (word == "coordinate") {
      put<Coordinate>(body, out).index = expression("an index");
    } else if (word == "load") {
      Load& s = put<Load>(body, out);
      element(s.buffer, s.index);
      s.access = access();
      s.active = active();
    } else if (word == "load_of_block") {
      LoadOfBlock& s = put<LoadOfBlock>(body, out);
      element(s.buffer, s.index);
      named("block");
      s.block = expression("the rank of a block");
    } else if (word == "random") {
      random(put<Random>(body), out);
    } else if (word == "running") {
      running(put<Running>(body, out));
    } else {
      function(body, out, word, at);
    }
  }

  void named(const char* name) {
    in_.expect(name, "here");
    in_.expect("=", fmt::format("after `{}`", name));
  }

  void random(Random& s, Value out) {
    s.out = out;
    in_.expect("(", "after `random`");
    named("seed");
    s.seed = use();
    in_.expect(",", "after the seed");
    named("index");
    s.index = expression("an index");
    in_.expect(",", "after the index");
    named("offset");
    s.offset = expression("an offset");
    in_.expect(")", "after the offset");
  }

  // `running add(%1) from %0`, its first word read.
  void running(Running& s) {
    const size_t at = in_.here();
    const std::string word = in_.word("a function");
    const auto function = parse_pointwise(word);
    if (!function) in_.fail_at(at, fmt::format("there is no function `{}`", word), "take add, mul, max or min");
    s.function = *function;
    in_.expect("(", "after the function");
    s.in = use();
    in_.expect(")", "after the operand");
    in_.expect("from", "before what came before");
    s.before = use();
  }

  // What is written as a call: `round(%3, to = bf16)`, `add(%1, %2)`.
  void function(Block& body, Value out, const std::string& word, size_t at) {
    const auto known = parse_pointwise(word);
    if (!known && word != "convert" && word != "half" && word != "shuffle")
      in_.fail_at(at, fmt::format("there is no function `{}`", word), suggestion(word, functions()));
    in_.expect("(", fmt::format("after `{}`", word));
    std::vector<Value> operands;
    while (next_is_value()) {
      operands.push_back(use());
      if (!in_.accept(",")) break;
    }
    const bool one = operands.size() == 1;
    if (word == "convert" && one) {
      Convert& s = put<Convert>(body, out);
      s.in = operands[0];
    } else if (word == "round" && one && in_.accept("to")) {
      Round& s = put<Round>(body, out);
      s.in = operands[0];
      in_.expect("=", "after `to`");
      s.to = dtype("a dtype");
    } else if (word == "half" && one) {
      Half& s = put<Half>(body, out);
      s.in = operands[0];
      named("upper");
      s.upper = choice("true or false", std::vector{false, true}, [](bool b) { return b ? "true" : "false"; });
    } else if (word == "shuffle" && one) {
      Shuffle& s = put<Shuffle>(body, out);
      s.in = operands[0];
      named("by");
      s.by = in_.integer("a number of lanes", 1, 31);
    } else {
      if (!known) in_.fail_at(at, fmt::format("`{}` takes one value", word), "give it one");
      Compute& s = put<Compute>(body, out);
      s.function = *known;
      s.in = operands;
    }
    in_.expect(")", "after the operands");
  }

  static std::vector<std::string> functions() {
    std::vector<std::string> out{"variable", "literal", "coordinate", "load",  "load_of_block", "convert",   "round",
                                 "half",     "shuffle", "random",     "start", "fold",          "transpose", "running"};
    for (int i = 0; i < kPointwiseCount; ++i) out.emplace_back(plait::name(Pointwise(i)));
    return out;
  }

  TextReader& in_;
  Kernel kernel_;
  bool had_head_ = false, first_ = false;
  SymbolReader symbols_;
  std::map<uint32_t, Value> values_;
};

}  // namespace

bool is_kernel_text(std::string_view text) {
  TextReader in(text, "");
  return in.accept("kernel");
}

std::vector<Kernel> parse_kernels(std::string_view text, const std::string& file) {
  TextReader in(text, file);
  std::vector<Kernel> out;
  do out.push_back(KernelReader(in).run());
  while (!in.at_end());
  return out;
}

Kernel parse(std::string_view text, const std::string& file) {
  TextReader in(text, file);
  Kernel out = KernelReader(in).run();
  if (!in.at_end()) in.fail("text after the kernel", "one kernel is read here");
  return out;
}

}  // namespace plait::kir
