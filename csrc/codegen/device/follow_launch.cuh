// What comes behind this launch on its stream may be brought to the device; what is in front of it has ended. Without
// the attribute of a programmatic launch both hold anyway.
__device__ __forceinline__ void follow_launch() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" : : : "memory");
  asm volatile("griddepcontrol.wait;" : : : "memory");
#endif
}
