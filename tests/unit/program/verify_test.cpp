#include <gtest/gtest.h>

#include "base/error.h"
#include "unit/program/build.h"

namespace plait {
namespace {

using test::Builder;

// Fails unless verify names the invariant.
void expect_broken(const Program& program, const std::string& invariant, const std::string& text) {
  try {
    verify(program);
    ADD_FAILURE() << "accepted:\n" << print(program);
  } catch (const InternalError& e) {
    EXPECT_EQ(e.message().substr(0, e.message().find(':')), invariant) << e.what();
    EXPECT_NE(std::string(e.what()).find(text), std::string::npos) << e.what();
  }
}

// x -> h -> (all_gather) p -> y, over tp.
struct Sample : Builder {
  ValueId x, h, p, y;
  Sample() : Builder({{"tp", 0, "t"}}, {3}) {
    x = input("x", {"chunk(n, t, rank.tp)"});
    h = alloc("h", {"chunk(n, t, rank.tp)"});
    combine({x}, h, "chunk(n, t, rank.tp)", 1);
    p = alloc("p", {"n"});
    pieces(Collective::all_gather, h, p, {"1", "chunk(n, t, rank.tp)", "n", "1"});
    y = output("y", {"n"});
    combine({p}, y, "n", 1);
    assign_streams(program);
  }
  // Places in the list of steps: alloc h, launch k1, record e1, alloc p, wait e1, gather, record e2, alloc y, wait e2,
  // launch k2.
  static constexpr size_t kAlloc = 0, kFirst = 1, kRecord = 2, kWait = 4, kGather = 5, kBack = 8, kLast = 9;
  template <class T>
  T& step(size_t i) {
    return static_cast<T&>(*program.steps[i]);
  }
  void remove(size_t i) { program.steps.erase(program.steps.begin() + int64_t(i)); }
  void broken(const std::string& invariant, const std::string& text = "") { expect_broken(program, invariant, text); }
};

TEST(VerifyProgram, AcceptsTheSample) { EXPECT_NO_THROW(verify(Sample().program)); }

TEST(VerifyProgram, P1Expressions) {
  Sample foreign;
  sym::Pool other;
  foreign.step<LaunchStep>(Sample::kFirst).integers[0] = other.symbol("n");
  foreign.broken("P1", "launch @k1");
  Sample axis;
  axis.step<LaunchStep>(Sample::kFirst).threads = axis.expr("rank.dp");
  axis.broken("P1", "rank.dp");
  Sample sizes;
  sizes.program.devices = DeviceMesh({3, 2});
  sizes.broken("P1");
  Sample fixed;
  fixed.program.mesh = Mesh("m", {{"tp", 4, ""}});
  fixed.broken("P1", "tp");
  Sample null;
  null.program.values[0].shape[0] = {};
  null.broken("P1", "%x");
}

TEST(VerifyProgram, P2ValuesAndLists) {
  Sample twice;
  twice.program.values[1].name = "x";
  twice.broken("P2", "%x");
  Sample missing;
  missing.program.inputs.clear();
  missing.broken("P2", "%x is missing");
  Sample repeated;
  repeated.program.outputs.push_back(repeated.y);
  repeated.broken("P2", "%y stands twice");
  Sample kind;
  kind.program.outputs.push_back(kind.h);
  kind.broken("P2", "%h");
  Sample unknown;
  unknown.step<LaunchStep>(Sample::kFirst).inputs[0] = ValueId{99};
  unknown.broken("P2", "99");
}

TEST(VerifyProgram, P3AllocBeforeWrite) {
  Sample missing;
  missing.remove(Sample::kAlloc);
  missing.broken("P3", "%h");
  Sample late;
  std::swap(late.program.steps[0], late.program.steps[1]);
  late.broken("P3", "%h");
  Sample twice;
  twice.program.add_step<AllocStep>().value = twice.h;
  twice.broken("P3", "%h is allocated twice");
  Sample input;
  input.program.add_step<AllocStep>().value = input.x;
  input.broken("P3", "%x");
}

TEST(VerifyProgram, P4WrittenOnce) {
  Sample twice;
  twice.combine({twice.x}, twice.h, "n", 0);
  twice.broken("P4", "%h is written twice");
  Sample input;
  input.combine({input.y}, input.x, "n", 0);
  input.broken("P4", "%x");
  Sample never;
  never.program.steps.pop_back();
  never.broken("P4", "%y is never written");
}

TEST(VerifyProgram, P5WrittenBeforeRead) {
  Sample early;
  early.step<LaunchStep>(Sample::kFirst).inputs[0] = early.p;
  early.broken("P5", "%p");
  Sample own;
  own.step<LaunchStep>(Sample::kLast).inputs[0] = own.y;
  own.broken("P5", "%y");
}

TEST(VerifyProgram, P16Workspaces) {
  const auto sample = [] {
    Sample s;
    s.program.kernels[0].code.buffers += 1;
    s.program.kernels[0].code.workspaces = 1;
    const ValueId w = s.alloc("w", {"n"});
    s.step<LaunchStep>(Sample::kFirst).workspaces = {w};
    auto alloc = std::move(s.program.steps.back());
    s.program.steps.pop_back();
    s.program.steps.insert(s.program.steps.begin(), std::move(alloc));
    return s;
  };
  EXPECT_NO_THROW(verify(sample().program));
  Sample read = sample();
  auto& launch = read.step<LaunchStep>(Sample::kLast + 1);
  launch.inputs[0] = read.step<LaunchStep>(Sample::kFirst + 1).workspaces[0];
  read.broken("P16", "%w");
  Sample output = sample();
  output.program.values[output.step<LaunchStep>(Sample::kFirst + 1).workspaces[0].value.index].kind =
      ProgramValueKind::output;
  output.program.outputs.push_back(output.step<LaunchStep>(Sample::kFirst + 1).workspaces[0].value);
  output.broken("P16", "%w is no temporary");
}

TEST(VerifyProgram, P6Arguments) {
  Sample workspaces;
  workspaces.program.kernels[0].code.buffers += 1;
  workspaces.program.kernels[0].code.workspaces = 1;
  workspaces.broken("P6", "launch @k1");
  Sample phases;
  phases.program.kernels[0].code.waves = {1, 1};
  phases.broken("P6", "extents of 1 phases for a kernel of 2");
  Sample buffers;
  buffers.program.kernels[0].code.buffers = 3;
  buffers.broken("P6", "launch @k1");
  Sample integers;
  integers.step<LaunchStep>(Sample::kFirst).integers.clear();
  integers.broken("P6", "launch @k1");
  Sample kernel;
  kernel.step<LaunchStep>(Sample::kFirst).kernel = {7};
  kernel.broken("P6", "7");
  Builder b;
  const ValueId a = b.input("a", {"2", "3"}), w = b.input("w", {"4", "3"}), y = b.output("y", {"2", "4"});
  auto& step = b.contraction(a, b.transposed(w, "4", "3"), y);
  EXPECT_NO_THROW(verify(b.program));
  for (View* view : {&step.a, &step.b}) {
    const View right = *view;
    *view = b.transposed(w, "4", "2");
    EXPECT_THROW(verify(b.program), InternalError);
    *view = w;
    EXPECT_THROW(verify(b.program), InternalError);
    *view = right;
  }
  b.program.libraries[0].contraction.in = DType::bf16;
  EXPECT_THROW(verify(b.program), InternalError);
}

TEST(VerifyProgram, P7DTypesAndCounts) {
  Sample dtype;
  dtype.program.values[dtype.p.index].dtype = DType::f64;
  dtype.broken("P7", "f64");
  Sample count;
  count.step<CollectiveStep>(Sample::kGather).total = count.expr("n + 1");
  count.broken("P7", "all_gather");
  Sample reduce;
  reduce.all_reduce(reduce.p, reduce.alloc("q", {"n + 1"}));
  reduce.broken("P7", "all_reduce");
}

// %a[6, 4]: what begins or ends outside of it, overlaps on itself as a result, or is read with strides by a kernel.
TEST(VerifyProgram, P17OutputsInPlaceOfInputs) {
  struct Steps : Builder {
    ValueId x, h, y;
    explicit Steps(const std::vector<std::string>& extents = {"n"}, DType dtype = DType::f32) {
      x = input("x", {"n"});
      h = alloc("h", {"n"});
      combine({x}, h, "n", 1);
      y = output("y", extents, dtype);
      combine({h, x}, y, extents[0], 1);
      in_place();
    }
    void in_place() { program.values[y.index].in_place_of = x; }
    std::string problem() {
      const auto found = find_problem(program);
      return found ? found->what : "";
    }
  };
  Steps good;
  EXPECT_EQ(good.problem(), "");
  const std::string text = print(good.program);
  EXPECT_NE(text.find("%y: f32[n] in %x"), std::string::npos) << text;
  const Program again = parse_program(text);
  EXPECT_EQ(print(again), text);
  EXPECT_EQ(again.value(again.outputs[0]).in_place_of, again.inputs[0]);

  Steps later;
  const ValueId z = later.output("z", {"n"});
  later.combine({later.x}, z, "n", 1);
  EXPECT_NE(later.problem().find("P17: %x is read after %y was written in its place"), std::string::npos)
      << later.problem();
  Steps twice;
  const ValueId w = twice.output("w", {"n"});
  twice.combine({twice.h}, w, "n", 1);
  twice.program.values[w.index].in_place_of = twice.x;
  EXPECT_NE(twice.problem().find("P17: two outputs in place of %x"), std::string::npos) << twice.problem();
  Steps shape({"m"});
  EXPECT_EQ(shape.problem(), "") << "m may be n";
  EXPECT_NE(Steps({"n + 1"}).problem().find("another shape"), std::string::npos);
  EXPECT_NE(Steps({"n", "1"}).problem().find("another type"), std::string::npos);
  EXPECT_NE(Steps({"n"}, DType::f64).problem().find("another type"), std::string::npos);
  Steps temporary;
  temporary.program.values[temporary.y.index].in_place_of = temporary.h;
  EXPECT_NE(temporary.problem().find("no output and input"), std::string::npos);
  Steps copied;
  const ValueId c = copied.output("c", {"n"});
  copied.slice(copied.h, c, {"1", "0", "n", "n", "1"});
  copied.program.values[copied.y.index].in_place_of.reset();
  copied.program.values[c.index].in_place_of = copied.x;
  EXPECT_NE(copied.problem().find("made by no launch"), std::string::npos) << copied.problem();
}

// A collective that reads the input is on another stream.
TEST(VerifyProgram, P17StreamsThatNothingOrders) {
  Builder b({{"tp", 0, "t"}}, {3});
  const ValueId x = b.input("x", {"n"}), p = b.output("p", {"n"});
  b.all_reduce(x, p);
  const ValueId y = b.output("y", {"n"});
  b.combine({x}, y, "n", 1);
  assign_streams(b.program);
  verify(b.program);
  b.program.values[y.index].in_place_of = x;
  EXPECT_NE(find_problem(b.program).value_or(ProgramProblem{}).what.find("P17"), std::string::npos);
}

TEST(VerifyProgram, P15Views) {
  const auto view = [](Builder& b, ValueId of, const std::vector<std::string>& extents,
                       const std::vector<std::string>& strides, const std::string& offset) {
    return View(of, b.expr(offset), b.shape(extents), b.shape(strides));
  };
  const auto problem = [&](const std::vector<std::string>& extents, const std::vector<std::string>& strides,
                           const std::string& offset) -> std::string {
    Builder b;
    const ValueId a = b.input("a", {"6", "4"}), w = b.input("w", {"4", "n"}), y = b.output("y", {"3", "n"});
    b.contraction(view(b, a, extents, strides, offset), w, y, {DType::f32, DType::f32, false});
    const auto found = find_problem(b.program);
    return found ? found->what : "";
  };
  EXPECT_EQ(problem({"3", "4"}, {"8", "1"}, "0"), "");
  EXPECT_EQ(problem({"3", "4"}, {"8", "1"}, "4"), "");
  EXPECT_EQ(problem({"3", "4"}, {"1", "6"}, "3"), "");
  EXPECT_EQ(problem({"3", "4"}, {"0", "1"}, "20"), "");
  EXPECT_EQ(problem({"3", "4"}, {"m", "1"}, "m"), "") << "left to binding";
  EXPECT_NE(problem({"3", "4"}, {"8", "1"}, "5").find("P15"), std::string::npos);
  EXPECT_NE(problem({"3", "4"}, {"1", "6"}, "4").find("P15"), std::string::npos);
  EXPECT_NE(problem({"3", "4"}, {"8", "1"}, "-1").find("P15"), std::string::npos);
  EXPECT_NE(problem({"3", "4"}, {"-4", "1"}, "12").find("P15"), std::string::npos);
  EXPECT_NE(problem({"3", "4"}, {"8"}, "0").find("P15"), std::string::npos);
  EXPECT_NE(problem({"3", "5"}, {"5", "1"}, "0").find("P6"), std::string::npos);
  Sample strided;
  strided.step<LaunchStep>(Sample::kFirst).inputs[0] = view(strided, strided.x, {"n"}, {"1"}, "0");
  strided.broken("P15", "by no library");
  Sample part;
  part.step<LaunchStep>(Sample::kFirst).outputs[0].offset = part.expr("1");
  part.broken("P4", "in part");
}

TEST(VerifyProgram, P8Collectives) {
  Sample team;
  team.step<CollectiveStep>(Sample::kGather).team = {{1}};
  team.broken("P8", "mesh axis 1");
  team.step<CollectiveStep>(Sample::kGather).team = {};
  team.broken("P8", "no mesh axis");
  team.step<CollectiveStep>(Sample::kGather).team = {{0, 0}};
  team.broken("P8", "named twice");
  Sample reduce;
  reduce.step<CollectiveStep>(Sample::kGather).reduce = CommReduce::sum;
  reduce.broken("P8", "op");
  Sample view;
  view.step<CollectiveStep>(Sample::kGather).inner = {};
  view.broken("P8", "view");
  Sample whole;
  whole.all_reduce(whole.p, whole.alloc("q", {"n"})).total = whole.expr("n");
  whole.broken("P8", "view");
  Sample rank;
  rank.program.values[rank.p.index].shape[0] = rank.expr("n + rank.tp");
  rank.step<CollectiveStep>(Sample::kGather).total = rank.expr("n + rank.tp");
  rank.broken("P8", "differs between the members");
  Sample sum;
  sum.program.values[sum.h.index].shape[0] = sum.expr("2");
  sum.step<CollectiveStep>(Sample::kGather).count = sum.expr("2");
  sum.program.values[sum.p.index].shape[0] = sum.expr("7");
  sum.step<CollectiveStep>(Sample::kGather).total = sum.expr("7");
  sum.broken("P8", "make 6, not 7");
}

// Rows [3, 2] of members become columns [8, chunk(6, 3)], read in place of the gather.
struct Exchange : Builder {
  CollectiveStep* exchange;
  Exchange() : Builder({{"tp", 0, "t"}}, {3}) {
    const ValueId x = input("x", {"8", "6"});
    const ValueId rows = alloc("rows", {"chunk(8, t, rank.tp)", "6"}),
                  columns = output("z", {"8", "chunk(6, t, rank.tp)"});
    combine({x}, rows, "6*chunk(8, t, rank.tp)", 1);
    exchange = &pieces(Collective::all_to_all, rows, columns, {"1", "chunk(8, t, rank.tp)", "8", "1"});
    exchange->middle = expr("1");
    exchange->scattered = expr("chunk(6, t, rank.tp)");
    exchange->scattered_total = expr("6");
    assign_streams(program);
  }
  void broken(const std::string& invariant, const std::string& text) { expect_broken(program, invariant, text); }
};

TEST(VerifyProgram, P8Exchanges) {
  EXPECT_NO_THROW(verify(Exchange().program));
  Exchange part;
  part.exchange->middle = {};
  part.broken("P8", "view");
  Exchange rank;
  rank.exchange->scattered_total = rank.expr("6 + rank.tp");
  rank.broken("P8", "differs between the members");
  Exchange count;
  count.exchange->scattered = count.expr("2");
  count.exchange->scattered_total = count.expr("7");
  count.broken("P8", "make 6, not 7");
  Exchange sum;
  sum.exchange->count = sum.expr("2");
  sum.broken("P8", "make 6, not 8");
  Exchange reduce;
  reduce.exchange->reduce = CommReduce::sum;
  reduce.broken("P8", "op");
  Sample gather;
  gather.step<CollectiveStep>(Sample::kGather).scattered_first = true;
  gather.broken("P8", "scatters");
}

// Rows become columns, as a block of both dims.
TEST(VerifyProgram, P8Blocks) {
  const auto make = [] {
    Exchange out;
    CollectiveStep& step = *out.exchange;
    step.collective = Collective::gather_block;
    step.count = step.total = step.scattered = step.scattered_total = {};
    step.totals = {out.expr("8"), out.expr("6")};
    step.held = {out.expr("chunk_start(8, t, rank.tp)"), out.expr("chunk(8, t, rank.tp)"), out.expr("0"),
                 out.expr("6")};
    step.wanted = {out.expr("0"), out.expr("8"), out.expr("chunk_start(6, t, rank.tp)"),
                   out.expr("chunk(6, t, rank.tp)")};
    return out;
  };
  EXPECT_NO_THROW(verify(make().program));
  Exchange part = make();
  part.exchange->held.pop_back();
  part.broken("P8", "view");
  Exchange range = make();
  range.exchange->count = range.expr("3");
  range.broken("P8", "a block with a range");
  Exchange rank = make();
  rank.exchange->totals[0] = rank.expr("8 + rank.tp");
  rank.broken("P8", "differs between the members");
  Exchange sum = make();
  sum.exchange->held[1] = sum.expr("2");
  sum.broken("P8", "make 36, not 48");
  Sample gather;
  gather.step<CollectiveStep>(Sample::kGather).totals = {gather.expr("1")};
  gather.broken("P8", "with a block");
}

TEST(VerifyProgram, P10EverythingIsWrittenAndNamedOnce) {
  Sample unused;
  unused.alloc("q", {"n"});
  unused.broken("P10", "%q is never written");
  Sample never;
  never.program.add_value("q", DType::f32, {}, ProgramValueKind::temporary);
  never.broken("P10", "%q is never written");
  Sample kernels;
  kernels.program.kernels[1].code.name = "k1";
  kernels.broken("P10", "two kernels are named @k1");
}

TEST(VerifyProgram, P11EventsAreRecordedOnceAndWaitedFor) {
  Sample lost;
  lost.remove(Sample::kRecord);
  lost.broken("P11", "wait %e1 on comm");
  Sample twice;
  twice.record(0, ProgramStream::compute);
  twice.broken("P11", "recorded twice");
  Sample alone;
  alone.record(7, ProgramStream::compute);
  alone.broken("P11", "%e8 is recorded, and no step waits for it");
  Sample late;
  std::swap(late.program.steps[Sample::kRecord], late.program.steps[Sample::kWait]);
  late.broken("P11", "not recorded before");
}

TEST(VerifyProgram, P12WaitsAddAnOrder) {
  Sample own;
  own.record(7, ProgramStream::compute);
  own.wait(7, ProgramStream::compute);
  own.broken("P12", "wait %e8 on compute");
  Sample again;
  again.wait(1, ProgramStream::compute);
  again.broken("P12", "wait %e2 on compute");
  Sample nothing;
  nothing.program.steps.insert(nothing.program.steps.begin(), std::make_unique<RecordStep>());
  static_cast<RecordStep&>(*nothing.program.steps[0]).event = {7};
  nothing.wait(7, ProgramStream::comm);
  nothing.broken("P12", "wait %e8 on comm");
}

TEST(VerifyProgram, P13NoRaces) {
  Sample to;
  to.remove(Sample::kWait);
  to.broken("P13", "%h is read while it is written on another stream");
  Sample back;
  back.remove(Sample::kBack);
  back.broken("P13", "%p is read while it is written on another stream");
  Sample early;  // the event is recorded before the write
  std::swap(early.program.steps[Sample::kFirst], early.program.steps[Sample::kRecord]);
  std::swap(early.program.steps[Sample::kAlloc], early.program.steps[Sample::kFirst]);
  early.program.steps.erase(early.program.steps.begin());  // the event
  early.program.steps.insert(early.program.steps.begin(), std::make_unique<RecordStep>());
  early.broken("P12");
  // Through a third step: y reads what comm read, and is past it.
  Sample through;
  through.slice(through.h, through.output("z", {"chunk(n, t, rank.tp)"}),
                {"1", "0", "chunk(n, t, rank.tp)", "chunk(n, t, rank.tp)", "1"});
  EXPECT_NO_THROW(verify(through.program));
}

TEST(VerifyProgram, P14ATeamHasOneStream) {
  Sample streams;
  streams.all_reduce(streams.p, streams.output("z", {"n"})).stream = ProgramStream::compute;
  streams.broken("P14", "an earlier collective of the team is on comm");
  Sample same;
  same.all_reduce(same.p, same.output("z", {"n"}));
  EXPECT_NO_THROW(verify(same.program));
}

// Two temporaries on two streams that no event orders may not share bytes.
TEST(BindProgram, MemoryIsSharedUnderHappensBefore) {
  auto bytes = [](bool ordered) {
    Builder b = Builder::tp(1);
    const ValueId x = b.input("x", {"64"});
    const ValueId a = b.alloc("a", {"64"}), r = b.alloc("r", {"64"}), s = b.alloc("s", {"64"});
    b.all_reduce(x, a);  // comm: x -> a -> r
    b.all_reduce(a, r);
    if (ordered) {
      b.record(1, ProgramStream::comm);
      b.wait(1, ProgramStream::compute);
    }
    b.combine({x}, s, "64", 0);  // compute: x -> s -> y; in the list a is dead by now
    b.combine({s}, b.output("y", {"64"}), "64", 0);
    if (!ordered) {
      b.record(1, ProgramStream::comm);
      b.wait(1, ProgramStream::compute);
    }
    b.combine({r}, b.output("z", {"64"}), "64", 0);
    verify(b.program);
    return bind(b.program, {})[0].memory.arena_bytes;
  };
  EXPECT_EQ(bytes(true), 2 * 256);
  EXPECT_EQ(bytes(false), 3 * 256);
}

// What verify leaves open because of symbols is caught with numbers.
TEST(BindProgram, ChecksCountsWithNumbers) {
  Sample total;
  total.program.values[total.h.index].shape[0] = total.expr("c");
  total.step<CollectiveStep>(Sample::kGather).count = total.expr("c");
  EXPECT_NO_THROW(verify(total.program));
  EXPECT_NO_THROW(bind(total.program, {{"n", 6}, {"c", 2}}));
  EXPECT_THROW(bind(total.program, {{"n", 7}, {"c", 2}}), InternalError);
  Sample elements;
  elements.program.values[elements.p.index].shape[0] = elements.expr("c");
  EXPECT_NO_THROW(bind(elements.program, {{"n", 6}, {"c", 6}}));
  EXPECT_THROW(bind(elements.program, {{"n", 6}, {"c", 7}}), InternalError);
  EXPECT_THROW(bind(elements.program, {{"n", 6}}), UserError) << "c has no value";
}

// Columns s .. s + k of x, times w: inside for some numbers only; offsets are bytes, and those of what is empty 0.
TEST(BindProgram, ChecksViewsWithNumbers) {
  Builder b;
  const ValueId x = b.input("x", {"m", "c"}, DType::bf16), w = b.input("w", {"k", "n"}, DType::bf16);
  const ValueId y = b.output("y", {"m", "n"}, DType::bf16);
  b.contraction({x, b.expr("s"), b.shape({"m", "k"}), b.shape({"c", "1"})}, w, y, {DType::bf16, DType::bf16, false});
  verify(b.program);
  const auto bound = [&](int64_t m, int64_t k, int64_t s) {
    return bind(b.program, {{"m", m}, {"c", 10}, {"k", k}, {"n", 5}, {"s", s}})[0].steps.back();
  };
  const BoundStep step = bound(4, 7, 3);
  EXPECT_EQ(step.offsets, (std::vector<int64_t>{6, 0, 0}));
  const ContractionArguments numbers(step.integers);
  EXPECT_EQ(numbers.a.row, 10);
  EXPECT_EQ(numbers.a.offset, 3);
  EXPECT_THROW(bound(4, 7, 4), InternalError);
  EXPECT_THROW(bound(4, 7, -1), InternalError);
  EXPECT_TRUE(bound(0, 7, 30).skipped);
  EXPECT_TRUE(bound(4, 0, 30).zero_fill);
  EXPECT_EQ(bound(4, 0, 30).offsets, std::vector<int64_t>());
}

TEST(BindProgram, RefusesSlicesPastTheirTensor) {
  Builder b;
  const ValueId x = b.input("x", {"2", "n"}), y = b.output("y", {"2", "3"});
  b.slice(x, y, {"2", "s", "3", "n", "1"});
  EXPECT_NO_THROW(bind(b.program, {{"n", 5}, {"s", 2}}));
  EXPECT_THROW(bind(b.program, {{"n", 5}, {"s", 3}}), InternalError);
  EXPECT_THROW(bind(b.program, {{"n", 5}, {"s", -1}}), InternalError);
}

}  // namespace
}  // namespace plait
