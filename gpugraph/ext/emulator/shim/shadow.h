// The race detector's memory of accesses: for each eight bytes, the last few accesses that still matter.
//
// An access may be forgotten when a later one, ordered after it, conflicts with everything that it would.
// Source: Serebryany and Iskhodzhanov 2009, ThreadSanitizer (shadow cells, eviction).
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>

namespace simt {

enum AccessKind : uint8_t { PLAIN_READ = 0, WRITES = 1, ATOMIC = 2, RETURNS = 4 };  // flags; RETURNS: read and write

struct Access {
    uint32_t thread;  // in the grid
    uint32_t block;
    uint32_t epoch;
    uint32_t clock;
    uint32_t pc;    // offset in the shared object
    uint8_t mask;   // of the eight bytes
    uint8_t kind;
    uint8_t used;
    uint8_t lane;
};

inline bool conflicts(uint8_t a, uint8_t b) { return ((a | b) & WRITES) && !(a & b & ATOMIC); }

// Whether `later` conflicts with everything that `earlier` conflicts with.
inline bool replaces(const Access& later, const Access& earlier) {
    return (earlier.mask & ~later.mask) == 0 && (later.kind & WRITES || !(earlier.kind & WRITES)) &&
           (!(later.kind & ATOMIC) || earlier.kind & ATOMIC);
}

constexpr int CELLS = 4;
struct Granule {
    Access cells[CELLS];
};

class Shadow {
public:
    Granule& at(uint64_t granule) {
        const uint64_t number = granule / GRANULES;
        if (number != last_number_ || !last_) {
            auto& page = pages_[number];
            if (!page) page = std::make_unique<Page>();
            last_ = page.get();
            last_number_ = number;
        }
        return last_->granules[granule % GRANULES];
    }
    void clear() {
        pages_.clear();
        last_ = nullptr;
    }

private:
    static constexpr uint64_t GRANULES = 128;
    struct Page {
        Granule granules[GRANULES] = {};
    };
    std::unordered_map<uint64_t, std::unique_ptr<Page>> pages_;
    Page* last_ = nullptr;
    uint64_t last_number_ = 0;
};

}  // namespace simt
