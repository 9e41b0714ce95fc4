// Reader of the text form of programs; the grammar is docs/ir.md.
#include <charconv>
#include <map>
#include <set>

#include "base/error.h"
#include "base/suggest.h"
#include "program/program.h"
#include "sym/text_reader.h"

namespace plait {
namespace {

constexpr int64_t kMostRanks = 1 << 20;
constexpr int64_t kMostOfALink = 1'000'000;  // GB/s, microseconds
constexpr int64_t kMostArguments = 1 << 20;  // buffers or integers of a kernel
constexpr CommReduce kReductions[] = {CommReduce::sum, CommReduce::max, CommReduce::min, CommReduce::prod};

class Reader {
 public:
  Reader(std::string_view text, const std::string& file) : in_(text, file) {
    program_.pool = std::make_shared<sym::Pool>();
  }

  Program run() {
    if (in_.accept("mesh")) read_mesh();
    head_at_ = in_.here();
    read_head();
    read_values(ProgramValueKind::input);
    in_.expect("->", "before the outputs");
    read_values(ProgramValueKind::output);
    in_.expect("{", "before the steps");
    while (!in_.accept("}")) read_line();
    if (!in_.at_end()) in_.fail("text after the program", "a file holds one program");
    if (auto problem = find_problem(program_))
      in_.fail_at(problem->step < step_at_.size() ? step_at_[problem->step] : head_at_, problem->what,
                  "docs/programs.md says what a program must satisfy");
    return std::move(program_);
  }

 private:
  // Runs fn; a UserError without a position gets that of `at`.
  template <class Fn>
  auto guarded(size_t at, Fn&& fn) -> decltype(fn()) {
    try {
      return fn();
    } catch (const UserError& e) {
      throw UserError(e.message(), in_.position(at) + (e.where().empty() ? "" : ": " + e.where()),
                      in_.with_line(at, e.remedy()));
    }
  }

  // `mesh @m (tp = 2)`, its first word read.
  void read_mesh() {
    in_.expect("@", "before the mesh's name");
    const size_t at = in_.here();
    std::string name = in_.word("the mesh's name");
    in_.expect("(", "before the mesh axes");
    std::vector<MeshAxis> axes;
    do {
      MeshAxis axis;
      axis.name = in_.word("a mesh axis");
      in_.expect("=", "after the mesh axis");
      if (in_.next_is_word())
        axis.symbol = in_.word("a size");
      else
        axis.size = in_.integer("a size or a symbol");
      if (in_.accept("bandwidth")) {
        axis.bandwidth = in_.integer("the GB/s of the axis's link", 1, kMostOfALink);
        in_.expect("latency", "after the bandwidth");
        axis.latency = in_.integer("the microseconds of the axis's link", 0, kMostOfALink);
      }
      axes.push_back(std::move(axis));
    } while (in_.accept(","));
    in_.expect(")", "after the mesh axes");
    program_.mesh = guarded(at, [&] { return Mesh(name, axes); });
  }

  // `program @f on @m[4]`
  void read_head() {
    in_.expect("program", "after the mesh");
    in_.expect("@", "before the program's name");
    program_.name = in_.word("the program's name");
    const Mesh& mesh = program_.mesh;
    if (!in_.accept("on")) {
      if (!mesh.axes().empty())
        in_.fail_at(
            head_at_, fmt::format("program @{} does not use mesh @{}", program_.name, mesh.name()),
            fmt::format("write `program @{} on @{}[...]`, with the size of every axis", program_.name, mesh.name()));
      return;
    }
    in_.expect("@", "before the mesh's name");
    const size_t at = in_.here();
    const std::string used = in_.word("the mesh's name");
    if (mesh.axes().empty() || used != mesh.name())
      in_.fail_at(at, fmt::format("there is no mesh @{}", used), "declare it above: mesh @m (tp = 2)");
    in_.expect("[", "before the sizes of the mesh axes");
    std::vector<int64_t> sizes;
    int64_t ranks = 1;
    do {
      const size_t size_at = in_.here();
      sizes.push_back(in_.integer("the size of a mesh axis", 1, kMostRanks));
      ranks *= sizes.back();
      if (ranks > kMostRanks)
        in_.fail_at(size_at, fmt::format("the mesh has more than {} ranks", kMostRanks), "use smaller sizes");
    } while (in_.accept(","));
    in_.expect("]", "after the sizes of the mesh axes");
    if (sizes.size() != mesh.axes().size())
      in_.fail_at(at, fmt::format("{} sizes for {} mesh axes", sizes.size(), mesh.axes().size()), "give one for each");
    program_.devices = guarded(at, [&] { return DeviceMesh(sizes); });
  }

  struct Type {
    DType dtype;
    std::vector<sym::Expr> shape;
  };

  DType read_dtype() {
    const size_t at = in_.here();
    const std::string text = in_.word("a dtype");
    if (auto dtype = parse_dtype(text)) return *dtype;
    std::vector<std::string> names;
    for (int i = 0; i < kDTypeCount; ++i) names.emplace_back(name(static_cast<DType>(i)));
    in_.fail_at(at, fmt::format("`{}` is no dtype", text), suggestion(text, names));
  }

  // An expression over sizes; `rank.AXIS` must be an axis of the mesh.
  sym::Expr read_expression(std::string_view what) {
    const size_t at = in_.here();
    const sym::Expr out = in_.expression(*program_.pool, what);
    for (const std::string& symbol : sym::symbols(out))
      if (symbol.rfind("rank.", 0) == 0) guarded(at, [&] { return program_.mesh.index(symbol.substr(5)); });
    return out;
  }

  std::vector<sym::Expr> read_expressions(std::string_view what) {
    std::vector<sym::Expr> out;
    in_.expect("[", fmt::format("before {}", what));
    if (in_.accept("]")) return out;
    do out.push_back(read_expression(what));
    while (in_.accept(","));
    in_.expect("]", fmt::format("after {}", what));
    return out;
  }

  Type read_type() {
    const DType dtype = read_dtype();
    return {dtype, read_expressions("the extents")};
  }

  ValueId add_value(const std::string& name, size_t at, Type type, ProgramValueKind kind) {
    const ValueId id = program_.add_value(name, type.dtype, std::move(type.shape), kind);
    if (!values_.emplace(name, id).second)
      in_.fail_at(at, fmt::format("%{} is defined twice", name), "give every value its own name");
    return id;
  }

  void read_values(ProgramValueKind kind) {
    const std::string_view what = kind == ProgramValueKind::input ? "input" : "output";
    in_.expect("(", fmt::format("before the {}s", what));
    if (in_.accept(")")) return;
    do {
      const size_t at = in_.here();
      const std::string name = in_.tensor_name();
      in_.expect(":", fmt::format("and a type after %{}", name));
      const ValueId id = add_value(name, at, read_type(), kind);
      if (kind == ProgramValueKind::output && in_.accept("in")) {
        const size_t of_at = in_.here();
        const auto of = values_.find(in_.tensor_name());
        if (of == values_.end()) in_.fail_at(of_at, fmt::format("%{} lies in no input", name), "name an input");
        program_.values[id.index].in_place_of = of->second;
      }
    } while (in_.accept(","));
    in_.expect(")", fmt::format("or `,` after an {}", what));
  }

  void read_line() {
    if (in_.at_end()) in_.fail("the program is never closed", "expected `}`");
    const size_t at = in_.here();
    if (in_.peek() == '%') return read_alloc(at);
    const std::string word = in_.word("a step");
    if (word == "kernel" || word == "contraction") {
      if (!program_.steps.empty())
        in_.fail_at(at, fmt::format("a {} behind a step", word), "list them before the steps");
      return word == "kernel" ? read_kernel() : read_contraction();
    }
    if (word == "launch") return read_launch(at);
    if (word == "library") return read_library(at);
    if (word == "copy") return read_copy(at);
    if (word == "record") return read_event(add<RecordStep>(at), word);
    if (word == "wait") return read_event(add<WaitStep>(at), word);
    for (Collective kind : kCollectives)
      if (word == name(kind)) return read_collective(kind, at);
    std::vector<std::string> words = {"kernel", "contraction", "launch", "library", "copy", "record", "wait"};
    for (Collective kind : kCollectives) words.emplace_back(name(kind));
    in_.fail_at(at, fmt::format("there is no step `{}`", word), suggestion(word, words));
  }

  template <class T>
  T& add(size_t at) {
    step_at_.push_back(at);
    return program_.add_step<T>();
  }

  // `= 3`: one after the other; `= 2+1`: two at once, then one.
  void read_waves(std::vector<size_t>& waves) {
    in_.expect("=", "after `phases`");
    waves = {size_t(in_.integer("a number of phases", 1, kMostArguments))};
    if (!in_.accept("+")) {
      waves.assign(waves[0], 1);
      return;
    }
    do waves.push_back(size_t(in_.integer("a number of phases", 1, kMostArguments)));
    while (in_.accept("+"));
  }

  // `kernel @k1 (buffers = 2, integers = 0) schedule pointwise(vector = 8)`
  void read_kernel() {
    KernelSlot slot;
    in_.expect("@", "before the kernel's name");
    const size_t at = in_.here();
    slot.code.name = in_.word("the kernel's name");
    in_.expect("(", "and the number of buffers after the kernel's name");
    in_.expect("buffers", "in parentheses");
    in_.expect("=", "after `buffers`");
    slot.code.buffers = size_t(in_.integer("a number of buffers", 0, kMostArguments));
    in_.expect(",", "after the number of buffers");
    in_.expect("integers", "after the number of buffers");
    in_.expect("=", "after `integers`");
    slot.code.integers = size_t(in_.integer("a number of integers", 0, kMostArguments));
    while (in_.accept(",")) {
      if (in_.accept("workspaces")) {
        in_.expect("=", "after `workspaces`");
        slot.code.workspaces = size_t(in_.integer("a number of workspaces", 0, kMostArguments));
      } else if (in_.accept("counters")) {
        in_.expect("=", "after `counters`");
        slot.code.counters = size_t(in_.integer("a number of counters", 0, kMostArguments));
      } else if (in_.accept("phases")) {
        read_waves(slot.code.waves);
      } else if (in_.accept("taken")) {
        in_.expect("=", "after `taken`");
        in_.expect("[", "before how often each operand is read or written");
        do slot.taken.push_back(in_.integer("how often", 1, kMostArguments));
        while (in_.accept(","));
        in_.expect("]", "after how often each operand is read or written");
      } else {
        in_.expect("status", "`workspaces`, `counters`, `phases`, `taken` or `)` after the number of integers");
        slot.code.status = true;
      }
    }
    in_.expect(")", "after the number of integers");
    if (in_.accept("schedule")) slot.schedule = in_.balanced("a schedule");
    if (!kernels_.emplace(slot.code.name, uint32_t(program_.kernels.size())).second)
      in_.fail_at(at, fmt::format("kernel @{} is listed twice", slot.code.name), "list it once");
    program_.kernels.push_back(std::move(slot));
  }

  // `contraction @l1 linear f32 -> f32`; contractions are numbered in their order.
  void read_contraction() {
    const std::string expected = fmt::format("l{}", program_.libraries.size() + 1);
    in_.expect("@", "before the contraction's name");
    in_.expect(expected, "as the name of this contraction");
    LibrarySlot slot;
    slot.contraction.linear = in_.accept("linear");
    if (!slot.contraction.linear) in_.expect("matmul", "or `linear`");
    slot.contraction.in = read_dtype();
    in_.expect("->", "before the dtype of the result");
    slot.contraction.out = read_dtype();
    program_.libraries.push_back(std::move(slot));
  }

  // `%h = alloc f32[n]`
  void read_alloc(size_t at) {
    const std::string name = in_.tensor_name();
    in_.expect("=", fmt::format("after %{}", name));
    in_.expect("alloc", "to give a value memory");
    auto& step = add<AllocStep>(at);
    Type type = read_type();
    auto known = values_.find(name);
    if (known == values_.end()) {
      step.value = add_value(name, at, std::move(type), ProgramValueKind::temporary);
      return;
    }
    const ProgramValue& value = program_.value(known->second);
    if (type.dtype != value.dtype || type.shape != value.shape)
      in_.fail_at(at, fmt::format("%{} is allocated with another type than before", name), "write the same type");
    step.value = known->second;
  }

  ValueId read_value() {
    const size_t at = in_.here();
    const std::string name = in_.tensor_name();
    auto it = values_.find(name);
    if (it != values_.end()) return it->second;
    const std::string later = in_.defined_later(name);
    if (!later.empty())
      in_.fail_at(at, fmt::format("%{} is used before it is allocated at {}", name, later), "order the steps");
    std::vector<std::string> names;
    for (const auto& [known, id] : values_) names.push_back(known);
    in_.fail_at(at, fmt::format("%{} is not defined", name), suggestion(name, names));
  }

  // `%x[b, n] strides [1, b] at 4`, or the whole `%x`
  View read_view() {
    const size_t at = in_.here();
    View view = read_value();
    if (in_.peek() == '[') view.extents = read_expressions("the extents of a view");
    if (in_.accept("strides")) {
      view.strides = read_expressions("the strides of a view");
      if (view.strides.size() != view.extents.size())
        in_.fail_at(at, fmt::format("{} strides for {} extents", view.strides.size(), view.extents.size()),
                    "give one for each: %x[m, n] strides [1, m]");
    }
    if (in_.accept("at")) view.offset = read_expression("the offset of a view");
    return view;
  }

  std::vector<View> read_views(std::string_view what) {
    std::vector<View> out;
    in_.expect("(", fmt::format("before {}", what));
    if (in_.accept(")")) return out;
    do out.push_back(read_view());
    while (in_.accept(","));
    in_.expect(")", fmt::format("after {}", what));
    return out;
  }

  // The number in `l12` or `e12`; 0 where there is none.
  static uint64_t numbered(const std::string& name, char letter) {
    uint64_t number = 0;
    const char *begin = name.data() + 1, *end = name.data() + name.size();
    if (name[0] != letter || begin == end || *begin == '0') return 0;
    const auto result = std::from_chars(begin, end, number);
    return result.ec == std::errc() && result.ptr == end ? number : 0;
  }

  void read_launch(size_t at) {
    auto& step = add<LaunchStep>(at);
    in_.expect("@", "before the kernel's name");
    const size_t name_at = in_.here();
    const std::string name = in_.word("the kernel's name");
    auto it = kernels_.find(name);
    if (it == kernels_.end()) {
      std::vector<std::string> names;
      for (const auto& [known, index] : kernels_) names.push_back(known);
      in_.fail_at(name_at, fmt::format("there is no kernel @{}", name), suggestion(name, names));
    }
    step.kernel.index = it->second;
    step.inputs = read_views("the inputs");
    in_.expect("->", "before the outputs");
    step.outputs = read_views("the outputs");
    if (in_.accept("using")) step.workspaces = read_views("the workspaces");
    finish(step, "launch");
  }

  void read_library(size_t at) {
    auto& step = add<LibraryStep>(at);
    in_.expect("@", "before the contraction's name");
    const size_t name_at = in_.here();
    const uint64_t number = numbered(in_.word("the contraction's name"), 'l');
    if (number < 1 || number > program_.libraries.size())
      in_.fail_at(name_at, "there is no such contraction",
                  fmt::format("{} are listed: @l1 ...", program_.libraries.size()));
    step.library.index = uint32_t(number - 1);
    in_.expect("(", "before the operands");
    step.a = read_view();
    in_.expect(",", "between the operands");
    step.b = read_view();
    in_.expect(")", "after the operands");
    in_.expect("->", "before the result");
    in_.expect("(", "before the result");
    step.out = read_view();
    in_.expect(")", "after the result");
    finish(step, "library");
  }

  void read_copy(size_t at) {
    auto& step = add<CopyStep>(at);
    step.in = read_view();
    in_.expect("->", "before the result");
    step.out = read_view();
    finish(step, "copy");
  }

  void read_collective(Collective kind, size_t at) {
    auto& step = add<CollectiveStep>(at);
    step.collective = kind;
    step.in = read_view();
    in_.expect("->", "before the result");
    step.out = read_view();
    finish(step, std::string(name(kind)));
    if (step.team.axes.empty()) in_.fail_at(at, fmt::format("{} lacks `team`", name(kind)), "write team = tp");
  }

  // `%e1 on comm`
  template <class T>
  void read_event(T& step, const std::string& word) {
    const size_t at = in_.here();
    const uint64_t number = in_.peek() == '%' ? numbered(in_.tensor_name(), 'e') : 0;
    if (number < 1 || number > uint64_t(UINT32_MAX))
      in_.fail_at(at, fmt::format("no event after `{}`", word), fmt::format("write {} %e1 on comm", word));
    step.event.index = uint32_t(number - 1);
    read_stream(step);
  }

  void read_stream(Step& step) {
    in_.expect("on", "and a stream after the step");
    step.stream = in_.accept("comm") ? ProgramStream::comm : ProgramStream::compute;
    if (step.stream == ProgramStream::compute) in_.expect("compute", "or `comm`");
  }

  // Attributes in parentheses, and the stream.
  template <class T>
  void finish(T& step, const std::string& what) {
    if (in_.accept("(")) {
      std::set<std::string> given;
      do {
        const size_t at = in_.here();
        const std::string attribute = in_.word("an attribute");
        if (!given.insert(attribute).second)
          in_.fail_at(at, fmt::format("attribute `{}` is given twice", attribute), "give it once");
        in_.expect("=", fmt::format("after attribute `{}`", attribute));
        read_attribute(step, attribute, at, what);
      } while (in_.accept(","));
      in_.expect(")", "or `,` after an attribute");
    }
    read_stream(step);
  }

  template <class T>
  void read_attribute(T& step, const std::string& attribute, size_t at, const std::string& what) {
    bool done = false;
    std::vector<std::string> names;
    for_each_field(step, [&](const auto& field, auto& member) {
      if (field.role != Role::attribute || done || !is_written(member)) return;
      names.emplace_back(field.name);
      if (field.name != attribute) return;
      done = true;
      read_member(member);
    });
    if (!done) in_.fail_at(at, fmt::format("{} has no attribute `{}`", what, attribute), suggestion(attribute, names));
  }

  // What the head of a line says is no attribute.
  template <class Member>
  static bool is_written(const Member&) {
    using std::is_same_v;
    return !is_same_v<Member, KernelId> && !is_same_v<Member, LibraryId> && !is_same_v<Member, Collective> &&
           !is_same_v<Member, EventId>;
  }
  void read_member(KernelId&) {}
  void read_member(LibraryId&) {}
  void read_member(Collective&) {}
  void read_member(EventId&) {}
  void read_member(ValueId&) {}
  void read_member(View&) {}
  void read_member(std::vector<View>&) {}
  void read_member(sym::Expr& member) { member = read_expression("an integer"); }
  void read_member(std::vector<sym::Expr>& member) { member = read_expressions("the integers"); }
  void read_member(PhaseExtents& member) {
    if (in_.peek() == '[')
      member.phases = read_expressions("the extents");
    else
      member.phases = {read_expression("an integer")};
  }
  void read_member(std::array<sym::Expr, 3>& member) {
    const size_t at = in_.here();
    const std::vector<sym::Expr> extents = read_expressions("the extents");
    if (extents.size() != 3) in_.fail_at(at, fmt::format("{} extents", extents.size()), "give three, e.g. [n, 1, 1]");
    std::copy(extents.begin(), extents.end(), member.begin());
  }
  void read_member(std::optional<CommReduce>& member) {
    const size_t at = in_.here();
    const std::string text = in_.word("a reduction");
    std::vector<std::string> names;
    for (CommReduce reduce : kReductions) {
      names.emplace_back(name(reduce));
      if (names.back() == text) member = reduce;
    }
    if (!member) in_.fail_at(at, fmt::format("`{}` is no reduction", text), suggestion(text, names));
  }
  void read_member(bool& member) {
    member = in_.accept("true");
    if (!member) in_.expect("false", "or `true`");
  }
  void read_member(Team& member) {
    const size_t begin = in_.here();
    const auto read_axis = [&] {
      const size_t at = in_.here();
      const std::string text = in_.word("a mesh axis");
      member.axes.push_back(guarded(at, [&] { return program_.mesh.index(text); }));
    };
    if (!in_.accept("[")) return read_axis();
    do read_axis();
    while (in_.accept(","));
    in_.expect("]", "after the axes of a team");
    guarded(begin, [&] { check_team(member, program_.mesh); });
  }

  TextReader in_;
  Program program_;
  size_t head_at_ = 0;
  std::vector<size_t> step_at_;
  std::map<std::string, ValueId> values_;
  std::map<std::string, uint32_t> kernels_;
};

}  // namespace

bool is_program_text(std::string_view text) {
  TextReader in(text, "");
  if (in.accept("mesh")) {
    while (!in.at_end() && in.peek() != ')') in.rewind(in.offset() + 1);
    in.accept(")");
  }
  return in.accept("program");
}

Program parse_program(std::string_view text, const std::string& file) { return Reader(text, file).run(); }

}  // namespace plait
