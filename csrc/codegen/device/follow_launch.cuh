// What comes behind this launch on its stream may be brought to the device from now on; what is in front of it has
// ended.
__device__ __forceinline__ void follow_launch() {
  asm volatile("griddepcontrol.launch_dependents;" : : : "memory");
  asm volatile("griddepcontrol.wait;" : : : "memory");
}
