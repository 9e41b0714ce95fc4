#pragma once
// Functions that the standard library lacks, or has with a global result. The one meaning of these ops: the reference
// evaluates them, and code generated for the CPU calls them. Thread-safe.

namespace plait {

// log |gamma(x)|; inf at 0 and the negative integers and at both infinities.
double log_gamma(double x);
// d/dx log gamma(x), relative error about 1e-15 except near its negative zeros, absolute there. -inf at 0, inf at -0,
// NaN at the negative integers and at -inf.
double digamma(double x);
// The inverse of erf, relative error about 1e-15: +-inf at +-1, NaN outside of [-1, 1].
double erfinv(double x);

}  // namespace plait
