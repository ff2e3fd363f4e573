// Work counted for a warp: which accesses of its lanes are one, and what those touch.
//
// Threads run one after another here, so what a warp does at once on a GPU is put together again: between two points at
// which lanes meet (a collective, a barrier, the end), the n-th time that each lane comes to a place in the code is one
// access of the warp.  Lanes that take a loop more often than others go on without them, as they do on a GPU.
#pragma once

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace simt {

// A place in the code that accesses global memory, or updates shared memory; as the host reads it.
struct Site {
    uint64_t pc;       // offset in the shared object
    const char* kind;  // "load", "store", or the name of an atomic
    uint64_t shared;   // 1: in shared memory
    uint64_t warps, lanes, bytes, sectors, addresses;
};

enum Total : uint32_t { ACCESSES, SECTORS, ATOMICS, BLOCK_BARRIERS, COLLECTIVES, TOTALS };

constexpr uint64_t SECTOR_BYTES = 32;

struct Counters {
    std::vector<Site> sites;
    uint64_t totals[TOTALS] = {};
    uint32_t clock = 0;          // 0: nothing is counted; else 1 + the total that kernels get for the time
    uint64_t readings = 0;

    void begin(uint32_t chosen) {
        clock = chosen;
        std::fill_n(totals, TOTALS, 0);
        for (Site& site : sites) site.warps = site.lanes = site.bytes = site.sectors = site.addresses = 0;
    }
    uint32_t at(uint64_t pc, const char* kind, bool shared) {
        const uint64_t key = pc << 1 | shared;
        Recent& recent = recent_[key * 0x9e3779b97f4a7c15ull >> 56];
        if (recent.key == key) return recent.site;
        const auto [found, is_new] = by_pc_.try_emplace(key, static_cast<uint32_t>(sites.size()));
        if (is_new) sites.push_back({pc, kind, shared, 0, 0, 0, 0, 0});
        recent = {key, found->second};
        return found->second;
    }
    // What a kernel reads as the time: what was counted so far, so that the phases that it times are phases of work.
    uint64_t time() { return clock > 1 ? totals[clock - 1] + 1 : totals[ACCESSES] + ++readings; }

private:
    struct Recent {
        uint64_t key = ~0ull;
        uint32_t site = 0;
    };
    Recent recent_[256];
    std::unordered_map<uint64_t, uint32_t> by_pc_;
};

inline Counters counters;

// What a warp has touched since its lanes last met.
class WarpWindow {
public:
    void touch(uint32_t lane, uint32_t site, uint64_t address, uint64_t bytes, bool exact) {
        if (turns_.size() <= site * 32 + lane) turns_.resize((site + 1) * 32);
        Turn& turn = turns_[site * 32 + lane];
        if (turn.window != window_[lane]) turn = {window_[lane], 0};
        const uint32_t number = turn.number++;
        if (exact) {
            touches_.push_back({window_[lane], site, number, address});
        } else {
            for (uint64_t at = address & ~(SECTOR_BYTES - 1); at < address + bytes; at += SECTOR_BYTES) {
                touches_.push_back({window_[lane], site, number, at});
            }
        }
        if (touches_.size() < limit_) return;
        sort();
        touches_.erase(std::unique(touches_.begin(), touches_.end()), touches_.end());
        limit_ = std::max(LEAST, 2 * touches_.size());
    }

    // Lanes meet; where these are `all` that run, nothing can join what was touched before.
    void meet(uint32_t lanes, bool all) {
        ++newest_;
        for (uint32_t rest = lanes; rest; rest &= rest - 1) window_[__builtin_ctz(rest)] = newest_;
        if (all && !touches_.empty()) count();
    }
    void clear() { touches_.clear(); }

private:
    using Touch = std::tuple<uint32_t, uint32_t, uint32_t, uint64_t>;  // window, site, turn, address
    struct Turn {
        uint32_t window = ~0u, number = 0;
    };
    static constexpr std::size_t LEAST = 1 << 12;

    void sort() { std::sort(touches_.begin(), touches_.end()); }
    void count() {
        sort();
        const Touch* last = nullptr;
        for (const Touch& touch : touches_) {
            const auto [window, site, turn, address] = touch;
            const bool same = last && std::get<0>(*last) == window && std::get<1>(*last) == site &&
                              std::get<2>(*last) == turn;
            const uint64_t before = same ? std::get<3>(*last) : 0;
            Site& into = counters.sites[site];
            const bool sector = !into.shared && (!same || before / SECTOR_BYTES != address / SECTOR_BYTES);
            into.warps += !same;
            into.addresses += !same || before != address;
            into.sectors += sector;
            counters.totals[SECTORS] += sector;
            last = &touch;
        }
        touches_.clear();
        limit_ = LEAST;
    }

    std::vector<Touch> touches_;
    std::vector<Turn> turns_;  // of each site and lane
    uint32_t window_[32] = {};
    uint32_t newest_ = 0;
    std::size_t limit_ = LEAST;
};

}  // namespace simt
