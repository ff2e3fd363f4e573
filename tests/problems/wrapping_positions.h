// Positions of 16 bits that wrap around as those of 32 bits do on a GPU, in words of 32 bits: so what kernels do with a
// graph of 2^31 to 2^32 arcs is seen on one of 2^15 to 2^16.  Emulated device alone, on top of a kernel file that is
// compiled with INDEX=Wrapping; see test_unsigned_positions.py.
struct Wrapping {
    unsigned word;

    Wrapping() = default;
    template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
    constexpr Wrapping(T value) : word(static_cast<unsigned>(value) & 0xffff) {}
    constexpr operator unsigned() const { return word; }
    operator unsigned() const volatile { return word; }
    constexpr Wrapping(unsigned value) : word(value & 0xffff) {}

    Wrapping& operator++() { return *this = word + 1; }
    Wrapping operator++(int) {
        const Wrapping before = *this;
        ++*this;
        return before;
    }
};

// With another position, or a number of 32 bits at most, an operation gives a position, as unsigned int does; with a
// wider one, or a real, that.
template <class T>
constexpr bool is_position = std::is_same_v<std::remove_cv_t<T>, Wrapping>;
template <class T>
constexpr bool is_narrow = is_position<T> || (std::is_integral_v<T> && sizeof(T) <= 4);
template <class A, class B>
constexpr bool is_operation =
    (is_position<A> && (is_position<B> || std::is_arithmetic_v<B>)) || (is_position<B> && std::is_arithmetic_v<A>);

template <class To, class T>
constexpr auto operand(T value) {
    if constexpr (is_narrow<To> && is_narrow<T>) return static_cast<unsigned>(value) & 0xffff;
    else if constexpr (is_position<T>) return value.word;
    else return value;
}

#define OPERATION(op)                                                                                                 \
    template <class A, class B, class = std::enable_if_t<is_operation<A, B>>>                                         \
    constexpr auto operator op(A a, B b) {                                                                            \
        const auto result = operand<B>(a) op operand<A>(b);                                                           \
        if constexpr (is_narrow<A> && is_narrow<B>) return Wrapping(result);                                          \
        else return result;                                                                                           \
    }                                                                                                                 \
    template <class T, class = std::enable_if_t<is_narrow<T> || std::is_arithmetic_v<T>>>                             \
    Wrapping& operator op##=(Wrapping& a, T b) { return a = Wrapping(a op b); }                                       \
    template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>                                             \
    T& operator op##=(T& a, Wrapping b) { return a = static_cast<T>(a op b); }
#define COMPARISON(op)                                                                                                \
    template <class A, class B, class = std::enable_if_t<is_operation<A, B>>>                                         \
    constexpr bool operator op(A a, B b) { return operand<B>(a) op operand<A>(b); }
OPERATION(+)
OPERATION(-)
OPERATION(*)
OPERATION(/)
OPERATION(%)
OPERATION(&)
OPERATION(|)
OPERATION(^)
COMPARISON(<)
COMPARISON(>)
COMPARISON(<=)
COMPARISON(>=)
COMPARISON(==)
COMPARISON(!=)
constexpr Wrapping operator>>(Wrapping a, int b) { return a.word >> b; }
constexpr Wrapping operator<<(Wrapping a, int b) { return a.word << b; }

#define SHUFFLE(name, By)                                                                                             \
    inline Wrapping name(unsigned mask, Wrapping value, By by, int width = 32, SIMT_PLACE) {                          \
        return name(mask, value.word, by, width, file, line);                                                         \
    }
SHUFFLE(__shfl_sync, int)
SHUFFLE(__shfl_up_sync, unsigned)
SHUFFLE(__shfl_down_sync, unsigned)
SHUFFLE(__shfl_xor_sync, int)

inline Wrapping atomicAdd(Wrapping* address, Wrapping value) {
    return simt::update(&address->word, "atomicAdd", [=](unsigned old) { return (old + value.word) & 0xffff; });
}

namespace simt {
template <>
constexpr Parameter describe<Wrapping>() { return describe<unsigned>(); }
}  // namespace simt
