#include "support/run_case.h"
#include "support/awkward_calls.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <random>

#include "api/check_program.h"
#include "backend/cuda/nvrtc.h"
#include "base/error.h"
#include "comm/local/local.h"
#include "reference/draw_inputs.h"
#include "reference/evaluate.h"
#include "session/bind_inputs.h"
#include "session/devices.h"
#include "support/planted_bugs.h"

namespace plait::testing {

namespace {

// Pieces of every tensor of the sharded fusion, for the shares of uneven and empty ones.
void look_at_pieces(const Fusion& sharded, const DeviceMesh& mesh, const sym::Environment& sizes, CaseResult& out) {
  for (const TensorView* t : sharded.tensors()) {
    for (size_t d = 0; d < t->rank(); ++d) {
      if (t->layout.dims[d].pieces.empty()) continue;
      int64_t extent = sym::evaluate(t->extent(d), sizes), least = INT64_MAX, most = 0;
      for (int64_t r = 0; r < mesh.ranks(); ++r) {
        auto n =
            static_cast<int64_t>(owned_indices(extent, t->layout.dims[d], mesh, mesh.coordinates(r), t->name).size());
        least = std::min(least, n);
        most = std::max(most, n);
      }
      out.uneven |= least != most;
      out.empty |= least == 0 && most > 0;
    }
  }
}

}  // namespace

bool DrawnAgain::left_open(uint64_t seed, const CaseResult& result) {
  if (!result.undecided) return false;
  std::printf("seed %llu is drawn again: %s\n", static_cast<unsigned long long>(seed), result.message.c_str());
  ++(result.message.find("nothing was compared") != std::string::npos ? nan_ : open_);
  return true;
}

bool DrawnAgain::refused(const UserError& error) {
  const std::string& what = error.message();
  const bool known = what.find("does not split into") != what.npos || what.find("no small integers keep") != what.npos;
  refused_ += known;
  return known;
}

void DrawnAgain::expect_few(int graphs) const {
  const int more = graphs < 20 ? 1 : 0;  // too few for shares
  EXPECT_LE(open_, (graphs + 49) / 50 + more) << "left undecided, of " << graphs;
  EXPECT_LE(nan_, (graphs + 9) / 10 + more) << "with an output of nothing but NaN, of " << graphs;
  EXPECT_LE(refused_ * 4, graphs + 4 * more) << "refused, of " << graphs;
}

std::string DrawnAgain::text() const {
  return fmt::format("{} left undecided, {} of nothing but NaN, {} refused", open_, nan_, refused_);
}

std::string why_no_device(const std::string& device) {
  try {
    find_device(device, {});
  } catch (const MissingError& e) {
    return e.what();
  }
  std::string why;
  if (is_simulated(device) && !nvrtc_available(&why)) return why;
  return "";
}

std::string put_specials(Tensors& inputs, uint64_t seed) {
  const double kSpecials[] = {std::nan(""), HUGE_VAL, -HUGE_VAL, -0.0, 1e30, 1e-40};
  std::mt19937_64 random(seed);
  std::string told;
  for (auto& [name, t] : inputs) {
    if (!is_float(t.dtype) || t.elements() == 0) continue;
    std::vector<double> values = t.to_doubles();
    const size_t at = random() % values.size();
    values[at] = kSpecials[random() % std::size(kSpecials)];
    told += fmt::format("%{} has {} at element {}; ", name, values[at], at);
    t = Tensor::from_doubles(t.dtype, t.shape, values);
  }
  return told;
}

Metadata metadata_of(const Fusion& fusion) {
  const sym::Environment sizes = reference::bind_sizes(fusion, {}, {});
  Metadata out;
  for (const TensorView* t : fusion.inputs()) {
    TensorMetadata of{t->dtype, {}};
    for (sym::Expr extent : t->shape()) of.shape.push_back(sym::evaluate(extent, sizes));
    out.emplace(t->name, std::move(of));
  }
  return out;
}

Tensors run_text(const std::string& text, const Tensor& x, const std::string& device, int64_t threads, size_t* phases) {
  const auto fusion = parse_fusion(text);
  CompileOptions how;
  how.device = device;
  Compiled compiled = compile(*fusion, how);
  RunOptions options;
  if (device == "cpu") options.threads = threads;
  Tensors out = compiled.run({{"x", x}}, options);
  if (phases != nullptr) {
    const auto& kernels = compiled.program().kernels;
    PLAIT_CHECK(kernels.size() == 1, "{} kernels", kernels.size());
    *phases = kernels[0].code.phases();
  }
  return out;
}

CaseResult run_case(const std::string& text, const CaseOptions& options) {
  ParseOptions parse;
  parse.set = options.set;
  auto fusion = parse_fusion(text, parse);
  reference::DrawOptions draw;
  draw.seed = options.seed;
  draw.exact = options.exact;
  auto drawn = reference::draw_inputs(*fusion, draw);
  Tensors inputs(drawn.begin(), drawn.end());
  if (options.specials) put_specials(inputs, options.seed);
  CompileOptions how;
  how.device = options.device;
  how.sizes = lets_of_open_symbols(*fusion);
  how.device_override = options.device_override;
  how.ranks = options.ranks;
  how.comm = options.comm;
  how.interleaving = options.interleaving;
  how.options = options.options;
  how.options.check_replicas = true;
  how.hook = options.hook;
  plant_bug(options.bug, how);
  std::shared_ptr<Communicators> comms;
  if (is_of_communicators(options.bug)) {
    how.comm = "given";
    comms = plant_bug(options.bug, std::make_shared<LocalCommunicators>(CommOptions{}));
  }
  Compiled program = compile(*fusion, how);
  const Tensors outputs = program.run(inputs, {.comms = comms.get()});
  const ProgramCheck check = check_program(*fusion, how, program, inputs, outputs,
                                           {.exact = options.exact, .one_rank = options.compare_one_rank && !comms});
  CaseResult out;
  out.ok = check.all.ok;
  out.message = check.all.message;
  if (options.awkward != nullptr && out.ok) {
    out.message = call_awkwardly(*fusion, program, inputs, outputs, *options.awkward);
    out.ok = out.message.empty();
  }
  out.max_error = check.all.max_error;
  out.undecided = check.all.outcome() == reference::Outcome::undecided;
  out.report = program.report();
  out.outputs = outputs;
  out.collectives = out.report.collectives;
  out.library_calls = out.report.library_calls;
  out.kernels = static_cast<int64_t>(out.report.kernels.size());
  look_at_pieces(program.sharded(), program.mesh(), program_sizes(*fusion, how.sizes, program.mesh(), inputs), out);
  return out;
}

CaseResult run_on_ranks(const std::string& text, const std::string& device, int64_t ranks, const std::string& comm) {
  CaseOptions how;
  how.device = ranks > 1 && device.starts_with("sim") ? device + ":" + std::to_string(ranks) : device;
  how.ranks = ranks;
  how.comm = comm;
  how.options.check_replicas = true;
  return run_case(text, how);
}

}  // namespace plait::testing
