// All threads of all blocks of the cluster wait until they are here, and see what any of them wrote before.
__device__ __forceinline__ void sync_cluster() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
#endif
}

// What the block of this rank has where `of_own` lies in shared memory of this one.
template <class T>
__device__ __forceinline__ T load_of_block(const T* of_own, unsigned rank) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  const unsigned own = static_cast<unsigned>(__cvta_generic_to_shared(of_own));
  unsigned at;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(at) : "r"(own), "r"(rank));
  if constexpr (sizeof(T) == 8) {
    unsigned long long bits;
    asm volatile("ld.shared::cluster.b64 %0, [%1];" : "=l"(bits) : "r"(at) : "memory");
    return reinterpret_cast<const T&>(bits);
  } else if constexpr (sizeof(T) == 4) {
    unsigned bits;
    asm volatile("ld.shared::cluster.b32 %0, [%1];" : "=r"(bits) : "r"(at) : "memory");
    return reinterpret_cast<const T&>(bits);
  } else {
    unsigned bits;
    asm volatile("ld.shared::cluster.u8 %0, [%1];" : "=r"(bits) : "r"(at) : "memory");
    return static_cast<T>(bits != 0);
  }
#else
  return *of_own;
#endif
}
