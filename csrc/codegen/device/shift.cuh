// Shifts of integers; an amount below 0 or past the last bit moves all bits out.
template <class T>
__device__ __forceinline__ T shift_left(T a, T n) {
  return n < 0 || n >= T(8 * sizeof(T)) ? T(0) : (T)((unsigned long long)a << n);
}
template <class T>
__device__ __forceinline__ T shift_right(T a, T n) {
  if (n < 0 || n >= T(8 * sizeof(T))) return a < 0 ? T(-1) : T(0);
  return a >> n;
}
