// Loads and stores with a cache hint, and dynamic shared memory.
//
// The hints mean nothing here, except that __ldcv and __stwt are volatile accesses.
#pragma once

#include "types.h"

template <class T> inline T __ldg(const T* address) { return *address; }
template <class T> inline T __ldca(const T* address) { return *address; }
template <class T> inline T __ldcg(const T* address) { return *address; }
template <class T> inline T __ldcs(const T* address) { return *address; }
template <class T> inline T __ldlu(const T* address) { return *address; }
template <class T> inline T __ldcv(const T* address) {
    if constexpr (std::is_arithmetic_v<T>) return *static_cast<const volatile T*>(address);
    else return *address;
}
template <class T> inline void __stwb(T* address, typename std::common_type<T>::type value) { *address = value; }
template <class T> inline void __stcg(T* address, typename std::common_type<T>::type value) { *address = value; }
template <class T> inline void __stcs(T* address, typename std::common_type<T>::type value) { *address = value; }
template <class T> inline void __stwt(T* address, typename std::common_type<T>::type value) {
    if constexpr (std::is_arithmetic_v<T>) *static_cast<volatile T*>(address) = value;
    else *address = value;
}

namespace simt {

// What `extern __shared__ T name[];` becomes at namespace scope; inside a function it becomes a pointer.
template <class T>
struct DynamicShared {
    operator T*() const { return static_cast<T*>(simt_dynamic_shared()); }
    template <class U>
    explicit operator U*() const { return static_cast<U*>(simt_dynamic_shared()); }
};

}  // namespace simt
