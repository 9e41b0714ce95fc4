// a / b of numbers below 2^32, for b >= 1: a fraction of the instructions of the 64-bit division.
__device__ __forceinline__ long long quotient(unsigned a, unsigned b) { return a / b; }
