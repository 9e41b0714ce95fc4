// A tensor-parallel MLP in C++, on one rank and on four.
#include <cstdio>

#include <plait/plait.h>

using namespace plait;

// A tensor whose element i is i * step modulo 7, less 3: small integers, so that every sum is exact.
Tensor numbers(std::vector<int64_t> shape, int64_t step) {
  std::vector<double> values;
  for (int64_t i = 0; i < element_count(shape); ++i) values.push_back(static_cast<double>(i * step % 7 - 3));
  return Tensor::from_doubles(f32, shape, values);
}

int main() {
  Fusion f(Mesh("m", {{"tp", 0, "t"}}), "mlp");  // one mesh axis, tp, of size t
  const Mesh& m = f.mesh();
  TensorView* x = f.input("x", {"b", "h"}, f32);
  TensorView* w0 = f.parameter("w0", {"h4", "h"}, f32);
  TensorView* b0 = f.parameter("b0", {"h4"}, f32);
  TensorView* w1 = f.parameter("w1", {"h", "h4"}, f32);
  w0->shard(0, m["tp"]);
  b0->shard(0, m["tp"]);
  w1->shard(1, m["tp"]);
  f.output("y", linear(relu(linear(x, w0, b0)), w1));

  const Tensors inputs = {
      {"x", numbers({2, 4}, 1)}, {"w0", numbers({10, 4}, 2)}, {"b0", numbers({10}, 3)}, {"w1", numbers({4, 10}, 4)}};
  for (int64_t ranks : {1, 4}) {
    Compiled program = compile(f, {.ranks = ranks});
    const Tensor y = program.run(inputs).at("y");
    std::printf("ranks %d, collectives %d, y =", static_cast<int>(ranks),
                static_cast<int>(program.report().collectives));
    for (double value : y.to_doubles()) std::printf(" %g", value);
    std::printf("\n");
  }
}
