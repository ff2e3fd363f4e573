// The schedule's source of chance: small, fast, and the same on every machine.
// Source: Steele, Lea and Flood 2014, SplitMix.
#pragma once

#include <cstdint>
#include <utility>

namespace simt {

class Random {
public:
    explicit Random(uint64_t seed) : state_(seed) {}

    uint64_t next() {
        uint64_t x = state_ += 0x9e3779b97f4a7c15ull;
        x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
        x = (x ^ x >> 27) * 0x94d049bb133111ebull;
        return x ^ x >> 31;
    }
    uint64_t below(uint64_t bound) {
        return static_cast<uint64_t>(static_cast<unsigned __int128>(next()) * bound >> 64);
    }
    template <class Iterator>
    void shuffle(Iterator first, Iterator last) {
        for (auto count = last - first; count > 1; --count) {
            std::swap(first[count - 1], first[below(static_cast<uint64_t>(count))]);
        }
    }

private:
    uint64_t state_;
};

}  // namespace simt
