__device__ __forceinline__ long long least(long long a, long long b) { return a < b ? a : b; }
__device__ __forceinline__ long long most(long long a, long long b) { return a > b ? a : b; }
