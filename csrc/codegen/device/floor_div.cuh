// Quotient rounded towards minus infinity and its remainder; b > 0.
__device__ __forceinline__ long long floor_div(long long a, long long b) { return a / b - (a % b < 0); }
__device__ __forceinline__ long long floor_mod(long long a, long long b) { return a % b + (a % b < 0 ? b : 0); }
