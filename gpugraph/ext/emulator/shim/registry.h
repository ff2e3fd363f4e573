// The list of a file's kernels with their parameter types, deduced from the kernels themselves.
#pragma once

#include <utility>

#include "types.h"

namespace simt {

template <class T>
constexpr const char* type_text() { return __PRETTY_FUNCTION__; }

template <class T>
constexpr Parameter describe() {
    using Pointee = std::remove_cv_t<std::remove_pointer_t<T>>;
    const char kind = std::is_pointer_v<T>          ? 'p'
                      : std::is_floating_point_v<T> ? 'f'
                      : std::is_integral_v<T>       ? (std::is_signed_v<T> ? 'i' : 'u')
                                                    : 's';
    uint32_t pointee = 0;
    if constexpr (std::is_pointer_v<T> && std::is_arithmetic_v<Pointee>) pointee = sizeof(Pointee);
    return {sizeof(T), kind, pointee, type_text<T>()};
}

template <auto kernel>
struct Entry;

template <class... Parameters, void (*kernel)(Parameters...)>
struct Entry<kernel> {
    static constexpr Parameter parameters[sizeof...(Parameters) + 1] = {describe<std::decay_t<Parameters>>()..., {}};

    template <std::size_t... index>
    static void call(void* const* arguments, std::index_sequence<index...>) {
        kernel(*static_cast<std::decay_t<Parameters>*>(arguments[index])...);
    }
    static void invoke(void* const* arguments) { call(arguments, std::index_sequence_for<Parameters...>()); }
    static constexpr Kernel describe_as(const char* name, uint32_t max_threads) {
        return {name, sizeof...(Parameters), max_threads, parameters, invoke};
    }
};

}  // namespace simt
