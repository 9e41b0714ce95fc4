// N elements on their way to shared memory, where they are when the thread has waited for its group; those from
// `active` on are 0, and nothing of `from` is read for them. What has fewer than 4 bytes, and all before sm_80, is
// there at once.
template <int N, class T>
__device__ __forceinline__ void copy_async(T* to, const T* from, int active) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  constexpr int bytes = sizeof(T) * N;
  if constexpr (bytes >= 4) {
    const unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(to));
    const int taken = active > 0 ? active * int(sizeof(T)) : 0;
    if constexpr (bytes % 16 == 0) {
      const char* piece = reinterpret_cast<const char*>(from);
#pragma unroll
      for (int i = 0; i < bytes; i += 16) {
        const int left = taken - i < 0 ? 0 : taken - i < 16 ? taken - i : 16;
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(at + i), "l"(piece + i), "r"(left)
                     : "memory");
      }
    } else
      asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(at), "l"(from), "n"(bytes), "r"(taken)
                   : "memory");
    return;
  }
#endif
#pragma unroll
  for (int i = 0; i < N; ++i) to[i] = i < active ? from[i] : T();
}

__device__ __forceinline__ void commit_copies() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

// Until all groups but the last N are there.
template <int N>
__device__ __forceinline__ void wait_for_copies() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
#endif
}
