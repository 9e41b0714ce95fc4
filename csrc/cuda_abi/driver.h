#pragma once
// Functions of the CUDA driver's library, version 13.0 (cuda_abi/driver_types.h).
#include "cuda_abi/driver_types.h"

// The version of a function that its plain name means.
#define cuCtxCreate cuCtxCreate_v4
#define cuCtxDestroy cuCtxDestroy_v2
#define cuCtxPopCurrent cuCtxPopCurrent_v2
#define cuCtxPushCurrent cuCtxPushCurrent_v2
#define cuDeviceGetUuid cuDeviceGetUuid_v2
#define cuDevicePrimaryCtxRelease cuDevicePrimaryCtxRelease_v2
#define cuDevicePrimaryCtxReset cuDevicePrimaryCtxReset_v2
#define cuDevicePrimaryCtxSetFlags cuDevicePrimaryCtxSetFlags_v2
#define cuDeviceTotalMem cuDeviceTotalMem_v2
#define cuEventDestroy cuEventDestroy_v2
#define cuEventElapsedTime cuEventElapsedTime_v2
#define cuGetProcAddress cuGetProcAddress_v2
#define cuGraphAddKernelNode cuGraphAddKernelNode_v2
#define cuGraphExecKernelNodeSetParams cuGraphExecKernelNodeSetParams_v2
#define cuGraphExecUpdate cuGraphExecUpdate_v2
#define cuGraphGetEdges cuGraphGetEdges_v2
#define cuGraphInstantiate cuGraphInstantiateWithFlags
#define cuGraphKernelNodeGetParams cuGraphKernelNodeGetParams_v2
#define cuGraphKernelNodeSetParams cuGraphKernelNodeSetParams_v2
#define cuGraphNodeGetDependencies cuGraphNodeGetDependencies_v2
#define cuMemAlloc cuMemAlloc_v2
#define cuMemAllocHost cuMemAllocHost_v2
#define cuMemAllocPitch cuMemAllocPitch_v2
#define cuMemFree cuMemFree_v2
#define cuMemGetAddressRange cuMemGetAddressRange_v2
#define cuMemGetInfo cuMemGetInfo_v2
#define cuMemHostGetDevicePointer cuMemHostGetDevicePointer_v2
#define cuMemHostRegister cuMemHostRegister_v2
#define cuMemcpy2D cuMemcpy2D_v2
#define cuMemcpy2DAsync cuMemcpy2DAsync_v2
#define cuMemcpy2DUnaligned cuMemcpy2DUnaligned_v2
#define cuMemcpyDtoD cuMemcpyDtoD_v2
#define cuMemcpyDtoDAsync cuMemcpyDtoDAsync_v2
#define cuMemcpyDtoH cuMemcpyDtoH_v2
#define cuMemcpyDtoHAsync cuMemcpyDtoHAsync_v2
#define cuMemcpyHtoD cuMemcpyHtoD_v2
#define cuMemcpyHtoDAsync cuMemcpyHtoDAsync_v2
#define cuMemsetD16 cuMemsetD16_v2
#define cuMemsetD2D16 cuMemsetD2D16_v2
#define cuMemsetD2D32 cuMemsetD2D32_v2
#define cuMemsetD2D8 cuMemsetD2D8_v2
#define cuMemsetD32 cuMemsetD32_v2
#define cuMemsetD8 cuMemsetD8_v2
#define cuModuleGetGlobal cuModuleGetGlobal_v2
#define cuStreamBeginCapture cuStreamBeginCapture_v2
#define cuStreamDestroy cuStreamDestroy_v2
#define cuStreamGetCaptureInfo cuStreamGetCaptureInfo_v3

extern "C" {
CUresult cuCtxCreate_v4(CUcontext*, CUctxCreateParams*, unsigned int, CUdevice);
CUresult cuCtxDestroy_v2(CUcontext);
CUresult cuCtxDisablePeerAccess(CUcontext);
CUresult cuCtxEnablePeerAccess(CUcontext, unsigned int);
CUresult cuCtxGetApiVersion(CUcontext, unsigned int*);
CUresult cuCtxGetCurrent(CUcontext*);
CUresult cuCtxGetDevice(CUdevice*);
CUresult cuCtxGetDevice_v2(CUdevice*, CUcontext);
CUresult cuCtxGetFlags(unsigned int*);
CUresult cuCtxGetId(CUcontext, unsigned long long*);
CUresult cuCtxGetLimit(size_t*, CUlimit);
CUresult cuCtxGetStreamPriorityRange(int*, int*);
CUresult cuCtxPopCurrent_v2(CUcontext*);
CUresult cuCtxPushCurrent_v2(CUcontext);
CUresult cuCtxSetCurrent(CUcontext);
CUresult cuCtxSynchronize();
CUresult cuCtxSynchronize_v2(CUcontext);
CUresult cuDeviceCanAccessPeer(int*, CUdevice, CUdevice);
CUresult cuDeviceGet(CUdevice*, int);
CUresult cuDeviceGetAttribute(int*, CUdevice_attribute, CUdevice);
CUresult cuDeviceGetByPCIBusId(CUdevice*, const char*);
CUresult cuDeviceGetCount(int*);
CUresult cuDeviceGetDefaultMemPool(CUmemoryPool*, CUdevice);
CUresult cuDeviceGetMemPool(CUmemoryPool*, CUdevice);
CUresult cuDeviceGetName(char*, int, CUdevice);
CUresult cuDeviceGetP2PAttribute(int*, CUdevice_P2PAttribute, CUdevice, CUdevice);
CUresult cuDeviceGetPCIBusId(char*, int, CUdevice);
CUresult cuDeviceGetUuid_v2(CUuuid*, CUdevice);
CUresult cuDevicePrimaryCtxGetState(CUdevice, unsigned int*, int*);
CUresult cuDevicePrimaryCtxRelease_v2(CUdevice);
CUresult cuDevicePrimaryCtxReset_v2(CUdevice);
CUresult cuDevicePrimaryCtxRetain(CUcontext*, CUdevice);
CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice, unsigned int);
CUresult cuDeviceSetMemPool(CUdevice, CUmemoryPool);
CUresult cuDeviceTotalMem_v2(size_t*, CUdevice);
CUresult cuDriverGetVersion(int*);
CUresult cuEventCreate(CUevent*, unsigned int);
CUresult cuEventDestroy_v2(CUevent);
CUresult cuEventElapsedTime_v2(float*, CUevent, CUevent);
CUresult cuEventQuery(CUevent);
CUresult cuEventRecord(CUevent, CUstream);
CUresult cuEventRecordWithFlags(CUevent, CUstream, unsigned int);
CUresult cuEventSynchronize(CUevent);
CUresult cuFuncGetAttribute(int*, CUfunction_attribute, CUfunction);
CUresult cuFuncGetModule(CUmodule*, CUfunction);
CUresult cuFuncGetName(const char**, CUfunction);
CUresult cuFuncGetParamInfo(CUfunction, size_t, size_t*, size_t*);
CUresult cuFuncIsLoaded(CUfunctionLoadingState*, CUfunction);
CUresult cuFuncLoad(CUfunction);
CUresult cuFuncSetAttribute(CUfunction, CUfunction_attribute, int);
CUresult cuFuncSetCacheConfig(CUfunction, CUfunc_cache);
CUresult cuGetErrorName(CUresult, const char**);
CUresult cuGetErrorString(CUresult, const char**);
CUresult cuGetProcAddress_v2(const char*, void**, int, cuuint64_t, CUdriverProcAddressQueryResult*);
CUresult cuGraphAddEmptyNode(CUgraphNode*, CUgraph, const CUgraphNode*, size_t);
CUresult cuGraphAddKernelNode_v2(CUgraphNode*, CUgraph, const CUgraphNode*, size_t, const CUDA_KERNEL_NODE_PARAMS*);
CUresult cuGraphCreate(CUgraph*, unsigned int);
CUresult cuGraphDestroy(CUgraph);
CUresult cuGraphExecDestroy(CUgraphExec);
CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec, CUgraphNode, const CUDA_KERNEL_NODE_PARAMS*);
CUresult cuGraphExecUpdate_v2(CUgraphExec, CUgraph, CUgraphExecUpdateResultInfo*);
CUresult cuGraphGetEdges_v2(CUgraph, CUgraphNode*, CUgraphNode*, CUgraphEdgeData*, size_t*);
CUresult cuGraphGetNodes(CUgraph, CUgraphNode*, size_t*);
CUresult cuGraphGetRootNodes(CUgraph, CUgraphNode*, size_t*);
CUresult cuGraphInstantiateWithFlags(CUgraphExec*, CUgraph, unsigned long long);
CUresult cuGraphInstantiateWithParams(CUgraphExec*, CUgraph, CUDA_GRAPH_INSTANTIATE_PARAMS*);
CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode, CUDA_KERNEL_NODE_PARAMS*);
CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode, const CUDA_KERNEL_NODE_PARAMS*);
CUresult cuGraphLaunch(CUgraphExec, CUstream);
CUresult cuGraphNodeGetDependencies_v2(CUgraphNode, CUgraphNode*, CUgraphEdgeData*, size_t*);
CUresult cuGraphNodeGetType(CUgraphNode, CUgraphNodeType*);
CUresult cuGraphUpload(CUgraphExec, CUstream);
CUresult cuInit(unsigned int);
CUresult cuKernelGetAttribute(int*, CUfunction_attribute, CUkernel, CUdevice);
CUresult cuKernelGetFunction(CUfunction*, CUkernel);
CUresult cuKernelGetLibrary(CUlibrary*, CUkernel);
CUresult cuKernelGetName(const char**, CUkernel);
CUresult cuKernelSetAttribute(CUfunction_attribute, int, CUkernel, CUdevice);
CUresult cuLaunchHostFunc(CUstream, CUhostFn, void*);
CUresult cuLaunchKernel(CUfunction, unsigned int, unsigned int, unsigned int, unsigned int, unsigned int, unsigned int,
                        unsigned int, CUstream, void**, void**);
CUresult cuLaunchKernelEx(const CUlaunchConfig*, CUfunction, void**, void**);
CUresult cuLibraryGetGlobal(CUdeviceptr*, size_t*, CUlibrary, const char*);
CUresult cuLibraryGetKernel(CUkernel*, CUlibrary, const char*);
CUresult cuLibraryGetKernelCount(unsigned int*, CUlibrary);
CUresult cuLibraryGetModule(CUmodule*, CUlibrary);
CUresult cuLibraryLoadData(CUlibrary*, const void*, CUjit_option*, void**, unsigned int, CUlibraryOption*, void**,
                           unsigned int);
CUresult cuLibraryUnload(CUlibrary);
CUresult cuMemAllocAsync(CUdeviceptr*, size_t, CUstream);
CUresult cuMemAllocFromPoolAsync(CUdeviceptr*, size_t, CUmemoryPool, CUstream);
CUresult cuMemAllocHost_v2(void**, size_t);
CUresult cuMemAllocPitch_v2(CUdeviceptr*, size_t*, size_t, size_t, unsigned int);
CUresult cuMemAlloc_v2(CUdeviceptr*, size_t);
CUresult cuMemFreeAsync(CUdeviceptr, CUstream);
CUresult cuMemFreeHost(void*);
CUresult cuMemFree_v2(CUdeviceptr);
CUresult cuMemGetAddressRange_v2(CUdeviceptr*, size_t*, CUdeviceptr);
CUresult cuMemGetInfo_v2(size_t*, size_t*);
CUresult cuMemHostAlloc(void**, size_t, unsigned int);
CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr*, void*, unsigned int);
CUresult cuMemHostGetFlags(unsigned int*, void*);
CUresult cuMemHostRegister_v2(void*, size_t, unsigned int);
CUresult cuMemHostUnregister(void*);
CUresult cuMemPoolCreate(CUmemoryPool*, const CUmemPoolProps*);
CUresult cuMemPoolDestroy(CUmemoryPool);
CUresult cuMemPoolGetAccess(CUmemAccess_flags*, CUmemoryPool, CUmemLocation*);
CUresult cuMemPoolGetAttribute(CUmemoryPool, CUmemPool_attribute, void*);
CUresult cuMemPoolSetAccess(CUmemoryPool, const CUmemAccessDesc*, size_t);
CUresult cuMemPoolSetAttribute(CUmemoryPool, CUmemPool_attribute, void*);
CUresult cuMemPoolTrimTo(CUmemoryPool, size_t);
CUresult cuMemcpy(CUdeviceptr, CUdeviceptr, size_t);
CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D*, CUstream);
CUresult cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D*);
CUresult cuMemcpy2D_v2(const CUDA_MEMCPY2D*);
CUresult cuMemcpyAsync(CUdeviceptr, CUdeviceptr, size_t, CUstream);
CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr, CUdeviceptr, size_t, CUstream);
CUresult cuMemcpyDtoD_v2(CUdeviceptr, CUdeviceptr, size_t);
CUresult cuMemcpyDtoHAsync_v2(void*, CUdeviceptr, size_t, CUstream);
CUresult cuMemcpyDtoH_v2(void*, CUdeviceptr, size_t);
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr, const void*, size_t, CUstream);
CUresult cuMemcpyHtoD_v2(CUdeviceptr, const void*, size_t);
CUresult cuMemcpyPeer(CUdeviceptr, CUcontext, CUdeviceptr, CUcontext, size_t);
CUresult cuMemcpyPeerAsync(CUdeviceptr, CUcontext, CUdeviceptr, CUcontext, size_t, CUstream);
CUresult cuMemsetD16Async(CUdeviceptr, unsigned short, size_t, CUstream);
CUresult cuMemsetD16_v2(CUdeviceptr, unsigned short, size_t);
CUresult cuMemsetD2D16Async(CUdeviceptr, size_t, unsigned short, size_t, size_t, CUstream);
CUresult cuMemsetD2D16_v2(CUdeviceptr, size_t, unsigned short, size_t, size_t);
CUresult cuMemsetD2D32Async(CUdeviceptr, size_t, unsigned int, size_t, size_t, CUstream);
CUresult cuMemsetD2D32_v2(CUdeviceptr, size_t, unsigned int, size_t, size_t);
CUresult cuMemsetD2D8Async(CUdeviceptr, size_t, unsigned char, size_t, size_t, CUstream);
CUresult cuMemsetD2D8_v2(CUdeviceptr, size_t, unsigned char, size_t, size_t);
CUresult cuMemsetD32Async(CUdeviceptr, unsigned int, size_t, CUstream);
CUresult cuMemsetD32_v2(CUdeviceptr, unsigned int, size_t);
CUresult cuMemsetD8Async(CUdeviceptr, unsigned char, size_t, CUstream);
CUresult cuMemsetD8_v2(CUdeviceptr, unsigned char, size_t);
CUresult cuModuleEnumerateFunctions(CUfunction*, unsigned int, CUmodule);
CUresult cuModuleGetFunction(CUfunction*, CUmodule, const char*);
CUresult cuModuleGetFunctionCount(unsigned int*, CUmodule);
CUresult cuModuleGetGlobal_v2(CUdeviceptr*, size_t*, CUmodule, const char*);
CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode*);
CUresult cuModuleLoad(CUmodule*, const char*);
CUresult cuModuleLoadData(CUmodule*, const void*);
CUresult cuModuleLoadDataEx(CUmodule*, const void*, unsigned int, CUjit_option*, void**);
CUresult cuModuleUnload(CUmodule);
CUresult cuOccupancyAvailableDynamicSMemPerBlock(size_t*, CUfunction, int, int);
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int*, CUfunction, int, size_t);
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int*, CUfunction, int, size_t, unsigned int);
CUresult cuOccupancyMaxPotentialBlockSize(int*, int*, CUfunction, CUoccupancyB2DSize, size_t, int);
CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int*, int*, CUfunction, CUoccupancyB2DSize, size_t, int,
                                                   unsigned int);
CUresult cuPointerGetAttribute(void*, CUpointer_attribute, CUdeviceptr);
CUresult cuPointerGetAttributes(unsigned int, CUpointer_attribute*, void**, CUdeviceptr);
CUresult cuStreamAddCallback(CUstream, CUstreamCallback, void*, unsigned int);
CUresult cuStreamBeginCapture_v2(CUstream, CUstreamCaptureMode);
CUresult cuStreamCreate(CUstream*, unsigned int);
CUresult cuStreamCreateWithPriority(CUstream*, unsigned int, int);
CUresult cuStreamDestroy_v2(CUstream);
CUresult cuStreamEndCapture(CUstream, CUgraph*);
CUresult cuStreamGetCaptureInfo_v3(CUstream, CUstreamCaptureStatus*, cuuint64_t*, CUgraph*, const CUgraphNode**,
                                   const CUgraphEdgeData**, size_t*);
CUresult cuStreamGetCtx(CUstream, CUcontext*);
CUresult cuStreamGetCtx_v2(CUstream, CUcontext*, CUgreenCtx*);
CUresult cuStreamGetDevice(CUstream, CUdevice*);
CUresult cuStreamGetFlags(CUstream, unsigned int*);
CUresult cuStreamGetId(CUstream, unsigned long long*);
CUresult cuStreamGetPriority(CUstream, int*);
CUresult cuStreamIsCapturing(CUstream, CUstreamCaptureStatus*);
CUresult cuStreamQuery(CUstream);
CUresult cuStreamSynchronize(CUstream);
CUresult cuStreamWaitEvent(CUstream, CUevent, unsigned int);
CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode*);
}
