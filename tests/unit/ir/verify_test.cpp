// Every invariant of verify() broken once.
#include <gtest/gtest.h>

#include <functional>

#include "base/error.h"
#include "ir/fusion.h"

namespace plait {
namespace {

std::unique_ptr<Fusion> sample() {
  return parse_fusion(R"(
let n = 6, T = f32
mesh @m (dp = 2, tp = 2)
fusion @f on @m (%x: T[4, n] {0: [dp, tp]}, param %w: T[n, n] {0: tp} stored {0: [tp, dp]}, %seed: u64[]) -> (%z) {
  segment @s1 (%x, %w) -> (%y) schedule library {
    %y = matmul(%x, %w)
  }
  segment @s2 (%y, %x, %seed) -> (%z) {
    %u: f32[4, n] loops (merge(0), split(0, 4)) = uniform(shape = [4, n], seed = %seed)
    %a = all_reduce(%y, team = tp)
    %z = add(%a, %u)
  }
}
)");
}

// The first line of the InternalError, or "no error".
std::string broken_by(const std::function<void(Fusion&)>& damage) {
  auto fusion = sample();
  verify(*fusion);
  damage(*fusion);
  try {
    verify(*fusion);
  } catch (const InternalError& e) {
    return e.what();
  }
  return "no error";
}

#define EXPECT_BROKEN(part, ...)                                   \
  do {                                                             \
    const std::string got = broken_by([](Fusion & f) __VA_ARGS__); \
    EXPECT_NE(got.find(part), std::string::npos) << got;           \
  } while (0)

TEST(Verify, Tensors) {
  EXPECT_BROKEN("%y belongs to another fusion", { f.find("z")->name = "y"; });
  EXPECT_BROKEN("belongs to another fusion", { f.find("z")->fusion = nullptr; });
  EXPECT_BROKEN("input %x has a definition", { f.find("x")->role = TensorRole::intermediate; });
  EXPECT_BROKEN("input %x has a definition", { f.find("x")->definition = f.ops()[0]; });
  EXPECT_BROKEN("%x is defined twice", { f.mutable_inputs().push_back(f.find("x")); });
  EXPECT_BROKEN("result of", { f.find("y")->definition = nullptr; });
  EXPECT_BROKEN("result of", { f.find("y")->role = TensorRole::parameter; });
  EXPECT_BROKEN("under the name U", { f.find("z")->dtype_alias = "U"; });
  EXPECT_BROKEN("under the name T", { f.dtype_lets[0].value = DType::bf16; });
}

TEST(Verify, Ops) {
  EXPECT_BROKEN("before its definition", {
    auto ops = f.ops();
    std::swap(ops[2], ops[3]);
    f.set_order(ops);
  });
  EXPECT_BROKEN("before its definition", { replace_input(*f.ops()[2], f.find("y"), f.find("z")); });
  EXPECT_BROKEN("lacks b", { as<Matmul>(*f.ops()[0])->b = nullptr; });
  EXPECT_BROKEN("lacks seed", { as<Uniform>(*f.ops()[1])->seed = nullptr; });
  EXPECT_BROKEN("null operand", { as<PointwiseOp>(*f.ops()[3])->in[1] = nullptr; });
  EXPECT_BROKEN("lacks a part of shape", { as<Uniform>(*f.ops()[1])->shape[0] = {}; });
  EXPECT_BROKEN("on mesh axis 2", { as<AllReduce>(*f.ops()[2])->team = {{2}}; });
  EXPECT_BROKEN("is not what it gives", { f.find("z")->dtype = DType::f64; });
  EXPECT_BROKEN("is not what it gives", { f.find("z")->domain.logical[0].extent = f.pool().constant(5); });
  EXPECT_BROKEN("the seed is", { f.find("seed")->dtype = DType::i64; });
  EXPECT_BROKEN("readers, and the fusion keeps", {  // an operand that is written behind the owner's back
    as<PointwiseOp>(*f.ops()[3])->in[1] = as<PointwiseOp>(*f.ops()[3])->in[0];
  });
  EXPECT_BROKEN("takes 2 operands", { as<PointwiseOp>(*f.ops()[3])->in.pop_back(); });
}

TEST(Verify, Outputs) {
  EXPECT_BROKEN("output %z twice", { f.set_outputs({f.find("z"), f.find("z")}); });
  EXPECT_BROKEN("output %free is not defined", { f.set_outputs({f.add_tensor("free", {}, DType::f32)}); });
}

TEST(Verify, Layouts) {
  EXPECT_BROKEN("has 1 dims of 2", { f.find("x")->layout.dims.pop_back(); });
  EXPECT_BROKEN("%x uses mesh axis 7", { f.find("x")->layout.dims[1].pieces = {{7, 1, 0}}; });
  EXPECT_BROKEN("%x uses mesh axis 1 twice", { f.find("x")->layout.dims[1].pieces = {{1, 1, 0}}; });
  EXPECT_BROKEN("%x uses mesh axis 0 twice", { f.find("x")->layout.partial[0] = ReduceOp::sum; });
  EXPECT_BROKEN("%seed: a pending logsumexp of u64", { f.find("seed")->layout.partial[0] = ReduceOp::logsumexp; });
  EXPECT_BROKEN("%flag: a pending max of bool",
                { f.input("flag", {}, DType::boolean)->layout.partial[0] = ReduceOp::max; });
  EXPECT_BROKEN("%seed has the pending reduction 9", { f.find("seed")->layout.partial[0] = ReduceOp(9); });
  EXPECT_BROKEN("%x ends with a local piece", { f.find("x")->layout.dims[1].pieces = {{-1, 1, 2}}; });
  EXPECT_BROKEN("local piece 0", { f.find("w")->layout.dims[1].pieces = {{-1, 1, 0}, {0, 1, 0}}; });
  EXPECT_BROKEN("granule 0", { f.find("w")->layout.dims[1].pieces = {{0, 0, 0}}; });
  EXPECT_BROKEN("stored layout of %z", { f.find("z")->stored = Layout::replicated(f.find("z")->rank()); });
  EXPECT_BROKEN("stored layout of %w", { f.find("w")->stored->partial[1] = ReduceOp::sum; });
  EXPECT_BROKEN("%w uses mesh axis 1 twice", { f.find("w")->stored->dims[1].pieces = {{1, 1, 0}}; });
}

TEST(Verify, Domains) {
  EXPECT_BROKEN("allocation of %z", { f.find("z")->domain.allocation = {0}; });
  EXPECT_BROKEN("allocation of %z is no order", { f.find("z")->domain.allocation = {0, 0}; });
  EXPECT_BROKEN("strided dims of %z", { f.find("z")->domain.strided = {true}; });
  EXPECT_BROKEN("range of %z", { (f.find("z")->range = {f.pool().constant(0), f.pool().constant(4)}); });
  EXPECT_BROKEN("strided dims of %z", { (f.find("z")->domain.strided = {false, false}); });
  EXPECT_BROKEN("broadcast dim 1 of %z", { f.find("z")->domain.logical[1].kind = AxisKind::broadcast; });
  EXPECT_BROKEN("reduction axes of %z", { f.find("z")->domain.reduction = {{f.pool().constant(3)}}; });
  EXPECT_BROKEN("reduction axes of %x", { f.find("x")->domain.reduction = {{f.pool().constant(3)}}; });
  EXPECT_BROKEN("loop axes of %u", { f.find("u")->domain.transforms[1].position = 3; });
  EXPECT_BROKEN("loop axes of %u", { f.find("u")->domain.transforms[1].factor = f.pool().constant(0); });
}

TEST(Verify, Segments) {
  EXPECT_BROKEN("does not hold the next op", { std::swap(f.segments[1].ops[0], f.segments[1].ops[1]); });
  EXPECT_BROKEN("no segment holds", {
    f.segments[1].ops.pop_back();
    f.segments[1].outputs.clear();
  });
  EXPECT_BROKEN("does not hold the next op", { f.segments[1].ops.push_back(f.ops()[0]); });
  EXPECT_BROKEN("reads %w, which is not its input", { f.segments[0].inputs.pop_back(); });
  EXPECT_BROKEN("does not make its output %x", { f.segments[0].outputs.push_back(f.find("x")); });
  EXPECT_BROKEN("lists the input %y", { f.segments[0].outputs.clear(); });
  EXPECT_BROKEN("makes %z, an output of the fusion", { f.segments[1].outputs.clear(); });
  EXPECT_BROKEN("defined twice", { f.segments[1].name = "s1"; });
  EXPECT_BROKEN("lists %x twice", { f.segments[0].inputs.push_back(f.find("x")); });
  EXPECT_BROKEN("holds no ops", { f.segments.push_back({"s3", {}, {}, {}, {}}); });
}

}  // namespace
}  // namespace plait
