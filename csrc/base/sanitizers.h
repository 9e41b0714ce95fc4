#pragma once
// Which sanitizers this file is compiled with, by g++ or clang: PLAIT_ASAN, PLAIT_TSAN are 0 or 1.

#if defined(__has_feature)
#define PLAIT_HAS_FEATURE(feature) __has_feature(feature)
#else
#define PLAIT_HAS_FEATURE(feature) 0
#endif

#if defined(__SANITIZE_ADDRESS__) || PLAIT_HAS_FEATURE(address_sanitizer)
#define PLAIT_ASAN 1
#else
#define PLAIT_ASAN 0
#endif

#if defined(__SANITIZE_THREAD__) || PLAIT_HAS_FEATURE(thread_sanitizer)
#define PLAIT_TSAN 1
#else
#define PLAIT_TSAN 0
#endif
