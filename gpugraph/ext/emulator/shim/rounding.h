// Mathematical functions, and conversions and arithmetic with an explicit rounding mode: rn nearest even, rz towards
// zero, ru up, rd down.
//
// Real to integer saturates and takes a NaN to 0, as the hardware does for 32 bits.  Integer to real and the sums round
// to nearest first and then step one value, which is exact because the error of the first step is known.
#pragma once

#include "types.h"

// CUDA has these for every type of number in the global namespace.
using std::abs, std::ceil, std::exp, std::fabs, std::floor, std::fma, std::fmax, std::fmin, std::isfinite, std::isinf,
    std::isnan, std::log, std::log2, std::pow, std::rint, std::round, std::signbit, std::sqrt, std::trunc;

namespace simt {

template <class Integer, class Real>
inline Integer saturate(Real x) {
    using Limits = Integer;
    constexpr bool is_signed = std::is_signed_v<Integer>;
    constexpr int value_bits = sizeof(Limits) * 8 - (is_signed ? 1 : 0);
    const Real above = std::ldexp(Real(1), value_bits);  // one past the largest
    if (x != x) return 0;
    if (x >= above) return is_signed ? static_cast<Integer>(~(Integer(1) << (value_bits & (sizeof(Integer) * 8 - 1))))
                                     : static_cast<Integer>(-1);
    if (is_signed ? x < -above : x <= Real(-1)) return is_signed ? Integer(Integer(1) << (sizeof(Integer) * 8 - 1)) : 0;
    if (!is_signed && x < 0) return 0;
    return static_cast<Integer>(x);
}

// The neighbour of `nearest` on the wanted side, if `nearest` lies on the other side of the exact value.
// `error` is exact - nearest, of which only the sign matters.
template <class Real, class Error>
inline Real step_up(Real nearest, Error error) {
    return error > 0 ? std::nextafter(nearest, Real(INFINITY)) : nearest;
}
template <class Real, class Error>
inline Real step_down(Real nearest, Error error) {
    return error < 0 ? std::nextafter(nearest, Real(-INFINITY)) : nearest;
}
template <class Real, class Error>
inline Real step_to_zero(Real nearest, Error error) {
    return nearest > 0 ? step_down(nearest, error) : nearest < 0 ? step_up(nearest, error) : nearest;
}

template <class Real, class Integer>
inline int conversion_error(Real nearest, Integer exact) {
    const __int128 difference = static_cast<__int128>(exact) - static_cast<__int128>(nearest);
    return difference > 0 ? 1 : difference < 0 ? -1 : 0;
}

// The rounding error of a sum, exactly (Knuth 1969, TwoSum).
template <class Real>
inline Real sum_error(Real a, Real b, Real sum) {
    const Real b_part = sum - a;
    return (a - (sum - b_part)) + (b - b_part);
}

}  // namespace simt

#define SIMT_REAL_TO_INTEGER(Real, real, Integer, integer)                                                            \
    inline Integer __##real##2##integer##_rn(Real x) { return simt::saturate<Integer>(std::nearbyint(x)); }           \
    inline Integer __##real##2##integer##_rz(Real x) { return simt::saturate<Integer>(std::trunc(x)); }               \
    inline Integer __##real##2##integer##_ru(Real x) { return simt::saturate<Integer>(std::ceil(x)); }                \
    inline Integer __##real##2##integer##_rd(Real x) { return simt::saturate<Integer>(std::floor(x)); }
#define SIMT_INTEGER_TO_REAL(Integer, integer, Real, real)                                                            \
    inline Real __##integer##2##real##_rn(Integer x) { return static_cast<Real>(x); }                                 \
    inline Real __##integer##2##real##_rz(Integer x) {                                                                \
        return simt::step_to_zero(static_cast<Real>(x), simt::conversion_error(static_cast<Real>(x), x));             \
    }                                                                                                                 \
    inline Real __##integer##2##real##_ru(Integer x) {                                                                \
        return simt::step_up(static_cast<Real>(x), simt::conversion_error(static_cast<Real>(x), x));                  \
    }                                                                                                                 \
    inline Real __##integer##2##real##_rd(Integer x) {                                                                \
        return simt::step_down(static_cast<Real>(x), simt::conversion_error(static_cast<Real>(x), x));                \
    }
#define SIMT_CONVERSIONS(Integer, integer)                                                                            \
    SIMT_REAL_TO_INTEGER(float, float, Integer, integer)                                                              \
    SIMT_REAL_TO_INTEGER(double, double, Integer, integer)                                                            \
    SIMT_INTEGER_TO_REAL(Integer, integer, float, float)                                                              \
    SIMT_INTEGER_TO_REAL(Integer, integer, double, double)

SIMT_CONVERSIONS(int, int)
SIMT_CONVERSIONS(unsigned, uint)
SIMT_CONVERSIONS(long long, ll)
SIMT_CONVERSIONS(unsigned long long, ull)

inline float __double2float_rn(double x) { return static_cast<float>(x); }
inline float __double2float_ru(double x) { return simt::step_up(static_cast<float>(x), x - static_cast<float>(x)); }
inline float __double2float_rd(double x) { return simt::step_down(static_cast<float>(x), x - static_cast<float>(x)); }
inline float __double2float_rz(double x) {
    return simt::step_to_zero(static_cast<float>(x), x - static_cast<float>(x));
}

inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fsub_rn(float a, float b) { return a - b; }
inline float __fmul_rn(float a, float b) { return a * b; }
inline float __fdiv_rn(float a, float b) { return a / b; }
inline float __fsqrt_rn(float a) { return std::sqrt(a); }
inline float __fmaf_rn(float a, float b, float c) { return std::fma(a, b, c); }
inline double __dadd_rn(double a, double b) { return a + b; }
inline double __dsub_rn(double a, double b) { return a - b; }
inline double __dmul_rn(double a, double b) { return a * b; }
inline double __ddiv_rn(double a, double b) { return a / b; }
inline double __dsqrt_rn(double a) { return std::sqrt(a); }
inline double __fma_rn(double a, double b, double c) { return std::fma(a, b, c); }
inline float __fadd_ru(float a, float b) { return simt::step_up(a + b, simt::sum_error(a, b, a + b)); }
inline float __fadd_rd(float a, float b) { return simt::step_down(a + b, simt::sum_error(a, b, a + b)); }
inline float __fadd_rz(float a, float b) { return simt::step_to_zero(a + b, simt::sum_error(a, b, a + b)); }
inline double __dadd_ru(double a, double b) { return simt::step_up(a + b, simt::sum_error(a, b, a + b)); }
inline double __dadd_rd(double a, double b) { return simt::step_down(a + b, simt::sum_error(a, b, a + b)); }
inline double __dadd_rz(double a, double b) { return simt::step_to_zero(a + b, simt::sum_error(a, b, a + b)); }
