// A C++ program that links plait::core, with headers of its own that are named as plait's are.
#include "base/error.h"

#include <plait/backend/cuda/cuda_device.h>
#include <plait/base/bounds_error.h>
#include <plait/comm/mpi/mpi.h>
#include <plait/comm/nccl/nccl_communicators.h>
#include <plait/plait.h>
#include <plait/session/devices.h>
#include <plait/shard/explain.h>

#include <iostream>

#include "ir/op.h"

int main() {
  try {
    plait::Fusion f;
    plait::TensorView* x = f.input("x", {"b"}, plait::f32);
    f.output("y", plait::mul(plait::add(x, 1), consumer::Op().factor));
    auto compiled = plait::compile(f);
    if (compiled.device().name() != plait::default_device()) return 4;
    if (plait::nccl_reduces(plait::CommReduce::max, plait::f32) || plait::MpiOptions().communicator) return 7;
    const auto y = compiled.run({{"x", plait::Tensor::from_doubles(plait::f32, {3}, {1, 3, 5})}}).at("y");
    if (y.to_doubles() != std::vector<double>{1, 2, 3}) return 3;
    try {
      plait::parse_fusion("fuson");
      return 5;
    } catch (const plait::UserError& e) {
      if (consumer::described(e.message()).empty() || e.where().empty()) return 6;
    }
    std::cout << "ok\n";
  } catch (const plait::Error& e) {
    std::cerr << consumer::described(e.what()) << "\n";
    return 1;
  }
}
