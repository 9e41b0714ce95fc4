#pragma once
#include "kir/kernel.h"

namespace plait::kir {

// Products of panels in shared memory become Mma. Wants: of threads in warps, thread_x of kWarp, the nest
//   for k in 0..16 { for i in 0..2 unroll { for j in 0..2 on lanes { sums[..] = fma(a[..], b[..], sums[..]) } } }
// in whose indices thread l of the warp has row l / 4 + 8*i and column 2*(l % 4) + j of a product, sums in f32 on its
// stack, and a and b in bf16 or f16, either of whose dims lies side by side. Unrolled loops right around it are tiles
// of rows or columns. Leaves: fragments of all rows and columns of these tiles, loaded once each, and an Mma for each
// tile; the same sums up to their order. Nests of another kind stay. Why here: threads have their own loops, and loops
// that `unroll` opens and lanes are loops still.
void fragments(Kernel& kernel);

}  // namespace plait::kir
