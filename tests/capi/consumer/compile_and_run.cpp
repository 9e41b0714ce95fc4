// A C++ program that links plait::core.
#include <iostream>

#include "base/error.h"
#include "plait.h"

int main() {
  try {
    plait::Fusion f;
    plait::TensorView* x = f.input("x", {"b"}, plait::f32);
    f.output("y", plait::mul(plait::add(x, 1), 0.5));
    auto compiled = plait::compile(f, {.device = "cpu"});
    const auto y = compiled.run({{"x", plait::Tensor::from_doubles(plait::f32, {3}, {1, 3, 5})}}).at("y");
    if (y.to_doubles() != std::vector<double>{1, 2, 3}) return 3;
    std::cout << "ok\n";
  } catch (const plait::Error& e) {
    std::cerr << e.what() << "\n";
    return 1;
  }
}
