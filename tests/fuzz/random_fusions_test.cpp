// Random fusions of what schedulers fuse, of all kinds by turns, on CPUs and on simulated GPUs: fused, and with a
// kernel per op, they agree with the reference at several sizes of one specialization (exact ones bit for bit), with
// equal bits on 1 to 8 threads and of inputs that lie otherwise. What was drawn is counted: ops, sizes, places, and
// reductions that share a kernel.
#include <gtest/gtest.h>

#include <random>

#include "api/check_program.h"
#include "axes/loop_tree.h"
#include "backend/cuda/nvrtc.h"
#include "backend/cuda/offline_device.h"
#include "base/error.h"
#include "graph/passes.h"
#include "reference/draw_inputs.h"
#include "schedule/scheduled_group.h"
#include "support/awkward_calls.h"
#include "support/op_words.h"
#include "support/random_fusion.h"
#include "support/run_case.h"
#include "support/sanitized.h"
#include "support/tensor_bits.h"

namespace plait {
namespace {

using testing::FusionKind;
using testing::RandomFusion;

// ---- What was drawn.

// Reductions: in a kernel with an elementwise op; not, though one stands beside them, with moves between or without;
// not, and none does.
struct Sharing {
  int shared = 0, apart = 0, alone = 0;
};

struct DrawnFusions {
  int fusions = 0, unfused = 0, runs = 0, exact_runs = 0, kernels = 0;
  int specials = 0,
      open_specials = 0;  // runs of NaN, infinities and the like, and those that the reference leaves open
  int too_large = 0;      // sizes for which exact numbers or the elements of some tensor are too many
  std::map<FusionKind, Sharing> shares;
  std::set<testing::OpWord> words;
  std::map<std::string, int> sizes, places;
  testing::DrawnAgain again;
  testing::AwkwardCalls awkward;
};

bool reduces(const Op& op) {
  switch (op.kind) {
    case OpKind::Reduce:
    case OpKind::Var:
    case OpKind::VarMean:
    case OpKind::MaxWithArgmax:
    case OpKind::MinWithArgmin:
      return true;
    default:
      return false;
  }
}

// Whether the op is elementwise, or a move behind which one stands.
bool leads_to_elementwise(const Fusion& fusion, const Op* op, bool forward) {
  if (op == nullptr || op->kind == OpKind::PointwiseOp) return op != nullptr;
  if (property(op->kind) != OpProperty::movement) return false;
  if (!forward) return leads_to_elementwise(fusion, inputs(*op)[0]->definition, false);
  const auto& readers = fusion.readers(op->results[0]);
  return std::any_of(readers.begin(), readers.end(), [&](Op* r) { return leads_to_elementwise(fusion, r, true); });
}

bool is_beside_elementwise(const Fusion& fusion, const Op& op) {
  if (leads_to_elementwise(fusion, inputs(op)[0]->definition, false)) return true;
  for (const TensorView* t : op.results)
    for (const Op* reader : fusion.readers(t))
      if (leads_to_elementwise(fusion, reader, true)) return true;
  return false;
}

void count_segments(const Fusion& fusion, Sharing& shares, DrawnFusions& drawn) {
  for (const Segment& s : fusion.segments) {
    const bool shared = std::any_of(s.ops.begin(), s.ops.end(), [](const Op* op) { return as<PointwiseOp>(*op); });
    for (const Op* op : s.ops) {
      if (!reduces(*op)) continue;
      if (!shared && !is_beside_elementwise(fusion, *op))
        ++shares.alone;
      else
        ++(shared ? shares.shared : shares.apart);
    }
    const std::string schedule = print(s.schedule);
    ++drawn.places["schedule " + schedule.substr(0, schedule.find('('))];
    drawn.kernels += is_generated(s.schedule);
  }
}

void count_group(const ScheduledGroup& group, std::map<std::string, int>& places) {
  for (const Op* op : group.reads) ++places[fmt::format("read of {}", name(op->kind))];
  places["group with kept rows"] += !group.kept.empty();
  places["group with copies for its roots"] += !group.copies.empty();
  places["group with tasks that share rows"] += group.phases.has_value();
  places["group with sums of columns by tasks"] += !group.column_sums.empty();
}

void count_tree(const LoopTree& tree, std::map<std::string, int>& places) {
  for (const auto& [op, placed] : tree.ops) {
    const char* homes[] = {"value", "buffer", "logical buffer", "memory"};
    ++places[fmt::format("op in a {}", homes[static_cast<size_t>(placed.home)])];
    places["state in registers"] += reduces(*op);
    places["op with loops of its own"] += placed.shared < static_cast<int>(tree.path(placed.loop).size());
    places["op that writes under a condition"] += !placed.write.empty();
    places["op that adds under a condition"] += !placed.reduce.empty();
  }
  places["tree of one phase"] += tree.later.empty();
  places["tree of two phases"] += tree.later.size() == 1;
  places["tree of more phases"] += tree.later.size() > 1;
  places["parts of a reduction in a workspace"] += !tree.parts.empty();
  places["value of one phase for another"] += !tree.cross.empty();
}

PassHook counting(FusionKind kind, DrawnFusions& drawn) {
  return [kind, &drawn](std::string_view stage, std::string_view pass, const PassSubject& subject) {
    if (const auto* fusion = subject.as<Fusion>(); fusion && stage == "segments" && pass == "segment")
      count_segments(*fusion, drawn.shares[kind], drawn);
    if (const auto* group = subject.as<ScheduledGroup>()) count_group(*group, drawn.places);
    if (const auto* tree = subject.as<LoopTree>()) count_tree(*tree, drawn.places);
  };
}

// Few elements, rows with and without a rest behind whole vectors, long rows; then sizes of further specializations,
// where tasks share columns and rows.
constexpr int kSizes = 6;
sym::Environment draw_sizes(int k, std::mt19937_64& random, DrawnFusions& drawn) {
  const auto in = [&](int64_t low, int64_t high) {
    return low + static_cast<int64_t>(random() % static_cast<uint64_t>(high - low + 1));
  };
  static const char* kWords[kSizes] = {"few elements", "rows with a rest", "rows of whole vectors",
                                       "long rows",    "shared columns",   "shared rows"};
  ++drawn.sizes[kWords[k]];
  const int64_t whole = 16 * in(1, 12);
  const int64_t c[] = {in(1, 7), whole + in(1, 15), whole, in(1500, 9999), in(1, 20), in(33000, 40000)};
  const int64_t b[] = {in(1, 5), in(1, 9), in(1, 9), in(1, 2), in(260, 900), 1};
  const int64_t a[] = {in(1, 3), in(1, 4), in(1, 4), in(1, 2), in(1, 4), 1};
  drawn.sizes["a = 1"] += a[k] == 1;
  drawn.sizes["b = 1"] += b[k] == 1;
  drawn.sizes["c = 1"] += c[k] == 1;
  return {{"a", a[k]}, {"b", b[k]}, {"c", c[k]}};
}

// ---- One fusion.

struct Programs {
  const Fusion& fusion;
  const Fusion& opened;  // composites as what they are made of
  const RandomFusion& random;
  CompileOptions how;
  Compiled fused;
  std::optional<Compiled> apart;  // a kernel per op
};

// Nothing is compared where the reference knows too little.
bool agrees(const Programs& p, const Compiled& program, const Tensors& inputs, const Tensors& outputs, uint64_t seed,
            DrawnFusions& drawn) {
  const ProgramCheck check =
      check_program(p.fusion, p.how, program, inputs, outputs, {.exact = p.random.exact, .one_rank = false});
  testing::CaseResult result;
  result.message = check.all.message;
  result.undecided = check.all.outcome() == reference::Outcome::undecided;
  if (drawn.again.left_open(seed, result)) return true;
  EXPECT_TRUE(check.all.ok) << check.all.message;
  return check.all.ok;
}

// Some ops make a square of an extent.
bool too_many_elements(const Fusion& fusion, const sym::Environment& sizes) {
  for (const TensorView* t : fusion.tensors()) {
    double elements = 1;
    for (const sym::Expr e : t->shape()) elements *= static_cast<double>(sym::evaluate(e, sizes));
    if (elements > 1 << 20) return true;
  }
  return false;
}

// Some elements are no usual numbers.
void run_specials(Programs& p, Tensors inputs, std::mt19937_64& random, DrawnFusions& drawn) {
  SCOPED_TRACE(testing::put_specials(inputs, random()));
  const Tensors outputs = p.fused.run(inputs);
  const ProgramCheck check = check_program(p.fusion, p.how, p.fused, inputs, outputs, {.one_rank = false});
  const bool undecided = check.all.outcome() == reference::Outcome::undecided;
  EXPECT_TRUE(check.all.ok || undecided) << check.all.message;
  ++drawn.specials;
  drawn.open_specials += undecided;
}

void run_sizes(Programs& p, uint64_t seed, int k, std::mt19937_64& random, DrawnFusions& drawn) {
  reference::DrawOptions draw;
  draw.seed = seed + static_cast<uint64_t>(k);
  draw.exact = p.random.exact;
  draw.sizes = draw_sizes(k, random, drawn);
  if (too_many_elements(p.opened, draw.sizes)) {
    ++drawn.too_large;
    return;
  }
  std::map<std::string, Tensor> map;
  try {
    map = reference::draw_inputs(p.fusion, draw);
  } catch (const UserError& e) {
    ++drawn.too_large;
    EXPECT_NE(e.message().find("no small integers keep"), std::string::npos) << e.what();
    return;
  }
  SCOPED_TRACE(fmt::format("a = {}, b = {}, c = {}, draw seed {}", draw.sizes["a"], draw.sizes["b"], draw.sizes["c"],
                           draw.seed));
  const Tensors inputs(map.begin(), map.end()), outputs = p.fused.run(inputs, {.threads = 1});
  ++drawn.runs;
  drawn.exact_runs += p.random.exact;
  agrees(p, p.fused, inputs, outputs, seed, drawn);
  for (const int64_t threads : {2 + static_cast<int64_t>(random() % 6), int64_t{8}})
    EXPECT_TRUE(testing::bits_of(p.fused.run(inputs, {.threads = threads})) == testing::bits_of(outputs))
        << "on " << threads << " threads";
  if (k == 0 && seed % 4 == 0) {
    EXPECT_EQ(testing::call_awkwardly(p.fusion, p.fused, inputs, outputs, drawn.awkward, false), "");
  }
  if (k == 1 && !p.random.exact) run_specials(p, inputs, random, drawn);
  if (p.apart) agrees(p, *p.apart, inputs, p.apart->run(inputs), seed, drawn);
}

void run_fusion(uint64_t seed, DrawnFusions& drawn) {
  const RandomFusion random = testing::random_fusion(seed);
  SCOPED_TRACE(fmt::format("seed {} ({}{}); replay with plait run FILE --check\n{}", seed, name(random.kind),
                           random.exact ? ", exact" : "", random.text));
  const auto fusion = parse_fusion(random.text);
  for (const auto& word : testing::words_of(*fusion)) drawn.words.insert(word);
  ++drawn.fusions;
  std::mt19937_64 dice(seed);
  CompileOptions how;
  how.device = "cpu";
  how.hook = counting(random.kind, drawn);
  const auto opened = clone(*fusion);
  expand(*opened, false);
  Programs p{*fusion, *opened, random, how, compile(*fusion, how), {}};
  PassControl nothing;  // groups grow by optional steps
  nothing.bisect = 0;
  CompileOptions alone;
  alone.device = "cpu";
  alone.passes = &nothing;
  if (seed % 3 == 0) {
    ++drawn.unfused;
    p.apart.emplace(compile(*fusion, alone));
  }
  for (int k = 0; k < kSizes && !::testing::Test::HasFailure(); ++k)
    if (k < 3 || (seed + static_cast<uint64_t>(k)) % 3 == 0) run_sizes(p, seed, k, dice, drawn);
}

// Fewer, as under sanitizers, say nothing of shares.
constexpr int kFewest = 60;

// On the simulated GPU, each kernel checked: small sizes, since every access of every thread is.
void run_fusion_on_sim(uint64_t seed, DrawnFusions& drawn) {
  const RandomFusion random = testing::random_fusion(seed);
  SCOPED_TRACE(fmt::format("seed {} ({}{})\n{}", seed, name(random.kind), random.exact ? ", exact" : "", random.text));
  ++drawn.fusions;
  std::mt19937_64 dice(seed);
  testing::CaseOptions how;
  how.device = seed % 2 == 0 ? "sim:sm_80" : "sim:sm_90a";
  how.seed = seed;
  how.exact = random.exact;
  how.options.poison = true;
  how.set["a"] = std::to_string(1 + dice() % 3);
  how.set["b"] = std::to_string(1 + dice() % (seed % 3 == 0 ? 40 : 5));
  how.set["c"] = std::to_string(seed % 3 == 1 ? 16 * (1 + dice() % 6) : 1 + dice() % (seed % 3 == 0 ? 9 : 150));
  SCOPED_TRACE(fmt::format("a = {}, b = {}, c = {}, {}", how.set["a"], how.set["b"], how.set["c"], how.device));
  testing::CaseResult result;
  try {
    result = testing::run_case(random.text, how);
  } catch (const UserError& e) {
    ++drawn.too_large;
    EXPECT_NE(e.message().find("no small integers keep"), std::string::npos) << e.what();
    return;
  }
  ++drawn.runs;
  drawn.exact_runs += random.exact;
  drawn.kernels += static_cast<int>(result.kernels);
  if (drawn.again.left_open(seed, result)) return;
  EXPECT_TRUE(result.ok) << result.message;
}

void run_many_on_sim(uint64_t first, int count) {
  if (const std::string why = testing::why_no_device("sim:sm_80"); !why.empty()) GTEST_SKIP() << why;
  DrawnFusions drawn;
  for (int i = 0; i < count && !::testing::Test::HasFailure(); ++i) {
    const uint64_t seed = first + static_cast<uint64_t>(i);
    try {
      run_fusion_on_sim(seed, drawn);
    } catch (const std::exception& error) {
      ADD_FAILURE() << "seed " << seed << ": " << error.what() << "\n" << testing::random_fusion(seed).text;
    }
  }
  std::printf("%d fusions, %d runs, %d exact, %d sizes too large; %d kernels; %s\n", drawn.fusions, drawn.runs,
              drawn.exact_runs, drawn.too_large, drawn.kernels, drawn.again.text().c_str());
  if (drawn.fusions < kFewest) return;
  EXPECT_GE(drawn.exact_runs * 10, drawn.runs);
  EXPECT_LE(drawn.too_large * 3, drawn.runs);
  drawn.again.expect_few(drawn.runs);
}

// ---- All of them.

// What no case draws, and why.
const std::map<std::string, std::string>& never_drawn() {
  static const std::map<std::string, std::string> kReasons = {
      {"linear", "products have tests of their own"},
      {"matmul", "products have tests of their own"},
  };
  return kReasons;
}

std::string list_counts(const std::map<std::string, int>& counts) {
  std::string out;
  for (const auto& [word, count] : counts) out += fmt::format("{}{} {}", out.empty() ? "" : ", ", word, count);
  return out;
}

void expect_shares(const DrawnFusions& drawn) {
  Sharing all;
  for (const auto& [kind, share] : drawn.shares) {
    std::printf("  %s: %d reductions share a kernel with an elementwise op, %d do not, %d have none beside them\n",
                std::string(name(kind)).c_str(), share.shared, share.apart, share.alone);
    all.shared += share.shared;
    all.apart += share.apart;
    all.alone += share.alone;
  }
  const int of = std::max(all.shared + all.apart, 1);
  std::printf("reductions: %d of %d (%.1f %%) share a kernel with an elementwise op; %d more have none beside them\n",
              all.shared, of, 100.0 * all.shared / of, all.alone);
  if (drawn.fusions < kFewest) return;
  EXPECT_GE(all.shared * 10, of * 9);
  EXPECT_LE(all.alone * 5, of);
}

void expect_words(const DrawnFusions& drawn, bool all) {
  std::string missing;
  size_t found = 0;
  for (const auto& word : testing::op_words()) {
    const std::string text = testing::text(word);
    const bool drawn_here = drawn.words.count(word) > 0;
    found += drawn_here;
    if (!drawn_here) missing += " " + text;
    EXPECT_TRUE(!all || drawn_here != (never_drawn().count(text) > 0)) << text << ": drawn or not, against the list";
  }
  std::printf("ops: %zu of %zu; not drawn:%s\n", found, testing::op_words().size(), missing.c_str());
  EXPECT_TRUE(drawn.fusions < kFewest || found * 10 >= testing::op_words().size() * 6);
}

void run_many_fusions(uint64_t first, int count, bool all) {
  DrawnFusions drawn;
  for (int i = 0; i < count && !::testing::Test::HasFailure(); ++i) {
    const uint64_t seed = first + static_cast<uint64_t>(i);
    try {
      run_fusion(seed, drawn);
    } catch (const std::exception& error) {
      ADD_FAILURE() << "seed " << seed << ": " << error.what() << "\n" << testing::random_fusion(seed).text;
    }
  }
  std::printf("%d fusions, %d of them with a kernel per op too; %d runs, %d exact, %d sizes too large; %d kernels\n",
              drawn.fusions, drawn.unfused, drawn.runs, drawn.exact_runs, drawn.too_large, drawn.kernels);
  std::printf("%s; %d runs of inputs that lie otherwise, %d of programs from files\n", drawn.again.text().c_str(),
              drawn.awkward.moved, drawn.awkward.saved);
  std::printf("%d runs of NaN, infinities and the like, %d left open\n", drawn.specials, drawn.open_specials);
  std::printf("sizes: %s\nplaces: %s\n", list_counts(drawn.sizes).c_str(), list_counts(drawn.places).c_str());
  expect_words(drawn, all);
  expect_shares(drawn);
  if (drawn.fusions < kFewest) return;
  drawn.again.expect_few(drawn.runs);
  EXPECT_LE(drawn.too_large * 3, drawn.runs);
  for (const auto& [word, n] : drawn.sizes) EXPECT_GE(n * 50, drawn.runs) << word;
  for (const char* word :
       {"op in a value", "op in a buffer", "op in a memory", "read of pointwise", "read of broadcast", "read of cat",
        "read of flip", "read of gather", "read of index_select", "read of pad", "read of permute", "read of repeat",
        "read of reshape", "read of roll", "read of slice", "schedule norm", "schedule pointwise", "schedule scatter"})
    EXPECT_GT(drawn.places[word], 0) << word;
  for (const auto& [word, n] : drawn.places) EXPECT_GT(n, 0) << word;
}

// Without a device: code of every architecture. Kernels that spill registers are compiled again with more of them;
// those that still do are named, and there may be one in a hundred.
void compile_many(uint64_t first, int count) {
  if (const std::string why = testing::why_no_device("sim:sm_80"); !why.empty()) GTEST_SKIP() << why;
  const std::vector<int> known = nvrtc_architectures();
  for (const char* architecture : {"sm_80", "sm_90a", "sm_100a"}) {
    const int number = std::stoi(std::string(architecture).substr(3));
    if (std::find(known.begin(), known.end(), number) == known.end()) continue;
    const std::unique_ptr<Device> device = make_offline_device(target_named(architecture));
    int kernels = 0, spilled = 0, shared = 0;
    for (int i = 0; i < count; ++i) {
      const RandomFusion drawn = testing::random_fusion(first + static_cast<uint64_t>(i));
      SCOPED_TRACE(fmt::format("seed {} for {}", first + static_cast<uint64_t>(i), architecture));
      const auto fusion = parse_fusion(drawn.text);
      CompileOptions how;
      how.device_override = device.get();
      how.comm = "given";  // nothing runs
      how.options.contractions = "nest";
      Compiled program = compile(*fusion, how);
      program.prepare(testing::metadata_of(*fusion));
      for (const KernelReport& k : program.report().kernels) {
        ++kernels;
        EXPECT_TRUE(k.facts.registers && k.facts.spill_bytes) << k.name;
        spilled += k.facts.spill_bytes.value_or(0) > 0;
        if (k.facts.spill_bytes.value_or(0) > 0)
          std::printf("seed %llu for %s: %s spills %d bytes: %s\n",
                      static_cast<unsigned long long>(first + static_cast<uint64_t>(i)), architecture, k.name.c_str(),
                      *k.facts.spill_bytes, k.schedule.c_str());
        shared += k.facts.shared_bytes.value_or(0) > 0;
        EXPECT_LE(k.facts.shared_bytes.value_or(0), 49152) << k.name;
      }
    }
    std::printf("%s: %d kernels, %d spill registers, %d have shared memory\n", architecture, kernels, spilled, shared);
    EXPECT_LE(spilled, kernels / 100) << architecture;
  }
}

// What the parts of the long run draw.
TEST(RandomFusions, EveryThousandDrawsEveryOp) {
  for (const uint64_t first : {10001, 11001, 12001}) {
    DrawnFusions drawn;
    for (uint64_t seed = first; seed < first + 1000; ++seed)
      for (const auto& word : testing::words_of(*parse_fusion(testing::random_fusion(seed).text)))
        drawn.words.insert(word);
    expect_words(drawn, true);
  }
}
TEST(RandomFusions, AgreeWithTheReference) { run_many_fusions(1, testing::drawn_here(40), false); }
TEST(RandomFusions, OnSimulatedGpus) { run_many_on_sim(1, testing::drawn_here(40)); }
TEST(RandomFusions, OnSimulatedGpusLongRun) { run_many_on_sim(20001, 1000); }
TEST(RandomFusions, CompileForThreeArchitectures) { compile_many(1, testing::drawn_here(4)); }
TEST(RandomFusions, CompileForThreeArchitecturesLongRun) { compile_many(30001, 300); }
TEST(RandomFusions, LongRun1) { run_many_fusions(10001, 1000, true); }
TEST(RandomFusions, LongRun2) { run_many_fusions(11001, 1000, true); }
TEST(RandomFusions, LongRun3) { run_many_fusions(12001, 1000, true); }

}  // namespace
}  // namespace plait
