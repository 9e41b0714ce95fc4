#pragma once
// Elementary functions, conversions of narrow floats and Philox as helper functions in LLVM IR. Each call emits a call
// of a helper, which is defined in the module on first use, once per lane count, and is inlined by the compiler. All of
// it is plain IEEE arithmetic on one lane at a time: results do not depend on the lane count.
#include "codegen/llvm/text.h"

namespace plait::codegen::llvm {

// f32: own polynomials; f64: the C library, lane by lane. Largest error in ulps of the result: exp 1, log 1, tanh 2.5,
// erf 1.5 (over all f32); infinities, NaN, signed zeros and denormal results are right.
Ir exp(Function& f, const Ir& x);
Ir log(Function& f, const Ir& x);
Ir tanh(Function& f, const Ir& x);
Ir erf(Function& f, const Ir& x);
// Built on these; errors within 4 ulp (sigmoid) and 4 ulp + 8 u |x| (the others), f32 and f64.
Ir sigmoid(Function& f, const Ir& x);
Ir silu(Function& f, const Ir& x);
Ir gelu_tanh(Function& f, const Ir& x);
Ir gelu_erf(Function& f, const Ir& x);

// The same, f32 lanes computed in f64: f32 results are within 0.51 ulp of those of the C library's function of double,
// special values and all arguments included.
Ir exp2(Function& f, const Ir& x);
Ir expm1(Function& f, const Ir& x);
Ir log2(Function& f, const Ir& x);
Ir log10(Function& f, const Ir& x);
Ir log1p(Function& f, const Ir& x);
Ir pow(Function& f, const Ir& x, const Ir& y);
Ir cbrt(Function& f, const Ir& x);
Ir hypot(Function& f, const Ir& x, const Ir& y);
Ir sinh(Function& f, const Ir& x);
Ir cosh(Function& f, const Ir& x);
Ir asinh(Function& f, const Ir& x);
Ir acosh(Function& f, const Ir& x);
Ir atanh(Function& f, const Ir& x);
Ir erfc(Function& f, const Ir& x);
Ir sin(Function& f, const Ir& x);
Ir cos(Function& f, const Ir& x);
Ir tan(Function& f, const Ir& x);
Ir asin(Function& f, const Ir& x);
Ir acos(Function& f, const Ir& x);
Ir atan(Function& f, const Ir& x);
Ir atan2(Function& f, const Ir& y, const Ir& x);
// Exact for all operands; the sign is x's.
Ir fmod(Function& f, const Ir& x, const Ir& y);
// 1 / sqrt(x), both steps rounded.
Ir rsqrt(Function& f, const Ir& x);
// scalar/special.h, lane by lane.
Ir log_gamma(Function& f, const Ir& x);
Ir digamma(Function& f, const Ir& x);
Ir erfinv(Function& f, const Ir& x);

// Bits of the narrow type (i16 or i8 lanes) of f32 or f64 lanes, rounded once to nearest even, NaN quieted. No target
// needs library calls for them; where the host has instructions, the plug-in takes those
// (backend/cpu/llvm_plugin/host_functions.h).
Ir round_to_narrow(Function& f, const Ir& x, DType narrow);
// f32 lanes of i16 or i8 lanes, exact.
Ir widen_narrow(Function& f, const Ir& bits, DType narrow);

// Uniform numbers of scalar/philox.h for a vector of linear indices (i64 lanes), seed and offset one i64 each.
Ir uniform(Function& f, const Ir& seed, const Ir& index, const Ir& offset);
// The same for `lanes` indices that follow one another, the first a multiple of 4, lanes a multiple of 4: a counter
// serves four lanes.
Ir uniform_run(Function& f, const Ir& seed, const Ir& first_index, const Ir& offset, int lanes);

}  // namespace plait::codegen::llvm
