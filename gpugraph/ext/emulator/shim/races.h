// The race detector: which accesses are not ordered by anything that CUDA promises.
//
// Order comes from a block barrier, from a warp collective (among the lanes of its mask), and from fences: what a
// thread did before its __threadfence() is known to a thread that reads, by an atomic or a volatile access, what the
// first wrote by one after that fence, and then fences itself.  A grid barrier and a flag handed from block to block
// are built of these.  Atomics alone order nothing.  Volatile accesses count as atomic.
// Source: Boehm and Adve 2008 (fences and relaxed atomics in C++11).
#pragma once

#include <dlfcn.h>

#include <set>
#include <unordered_map>
#include <vector>

#include "bounds.h"
#include "knowledge.h"
#include "scheduler.h"
#include "shadow.h"
#include "reports.h"

namespace simt {

// One race, as the host reads it; offsets are into the shared object.
struct RaceRecord {
    uint64_t first_pc, second_pc;
    uint32_t first_kind, second_kind;  // AccessKind flags
    uint32_t shared;                   // 1: in shared memory
    uint32_t first_thread[2], second_thread[2];  // block, thread in the block
    int32_t argument;                            // whose array it is, or -1
};

constexpr uint32_t POLLS_BEFORE_YIELD = 1 << 20;  // volatile accesses, after which others get a turn where work is counted

class RaceDetector {
public:
    void begin(const Launch& launch) {
        bounds_.begin(launch);
        looks_ = launch.races;
        shadow_.clear();
        seen_.clear();
        published_.clear();
        threads_per_block_ = launch.block[0] * launch.block[1] * launch.block[2];
        dynamic_bytes_ = launch.shared_bytes;
#ifdef SIMT_COUNTERS
        counters.begin(launch.counts);
        const uint32_t last = launch.kernel->parameters;  // behind them lies what aligns them
        arguments_[0] = {reinterpret_cast<uint64_t>(launch.arguments), reinterpret_cast<uint64_t>(launch.arguments + last)};
        if (last) {
            arguments_[1] = {reinterpret_cast<uint64_t>(launch.arguments[0]),
                             reinterpret_cast<uint64_t>(launch.arguments[last - 1]) + launch.kernel->parameter[last - 1].bytes};
        }
#endif
        if (!base_) {
            Dl_info info;
            dladdr(&simt_kernel_count, &info);
            base_ = reinterpret_cast<uint64_t>(info.dli_fbase);
        }
    }

    void access(const volatile void* address, std::size_t bytes, uint8_t kind, void* pc) {
        Thread& self = *scheduler->current;
        const auto at = reinterpret_cast<uint64_t>(address);
        if (looks_ && kind & ATOMIC) hand_over(self, at, kind);
        uint64_t place = at;
        const bool shared = in_shared(self, address, place);
        if (!shared && bounds_.known() && !bounds_.contains(at, at + bytes)) fail_bounds(self, at, bytes, kind, pc);
        if (!looks_) return;
        Access now{self.block->grid_thread(self), static_cast<uint32_t>(self.block->number), self.block->epoch,
                   self.race.clock, offset_of(pc), 0, kind, 1, self.lane};
        for (const uint64_t end = place + bytes; place < end;) {
            const uint64_t first = place & 7, count = std::min<uint64_t>(8 - first, end - place);
            now.mask = static_cast<uint8_t>(((1u << count) - 1) << first);
            check(self, shadow_.at(place >> 3), now, shared ? -1 : at, shared);
            place += count;
        }
    }

    void fence(Thread& self) {
        if (!looks_) return;
        RaceState& state = self.race;
        state.known = join(state.known, state.pending);
        state.pending = nullptr;
        auto snapshot = std::make_shared<KnowledgeValue>();
        const auto block = static_cast<uint32_t>(self.block->number);
        if (self.block->epoch) snapshot->blocks.push_back({block, self.block->epoch});
        state.lanes[self.lane] = state.clock;
        const uint32_t warp_first = self.block->grid_thread(self) - self.lane;
        for (uint32_t lane = 0; lane < 32; ++lane) {
            if (!state.lanes[lane]) continue;
            snapshot->threads.push_back({warp_first + lane, state.lanes[lane], block, self.block->epoch});
        }
        state.released = join(state.known, snapshot);
        ++state.clock;
    }

    void warp_sync(Warp& warp, uint32_t lanes) {
        if (!looks_) return;
        uint32_t joint[32] = {};
        Knowledge known;
        for (uint32_t rest = lanes; rest; rest &= rest - 1) {
            const int lane = __builtin_ctz(rest);
            RaceState& state = warp.threads[lane].race;
            state.lanes[lane] = state.clock;
            for (int i = 0; i < 32; ++i) joint[i] = std::max(joint[i], state.lanes[i]);
            known = join(known, state.known);
        }
        for (uint32_t rest = lanes; rest; rest &= rest - 1) {
            RaceState& state = warp.threads[__builtin_ctz(rest)].race;
            memcpy(state.lanes, joint, sizeof joint);
            state.known = known;
            ++state.clock;
        }
    }

    void block_sync(Block& block) {
        if (!looks_) return;
        Knowledge known;
        for (Thread& thread : block.threads) known = join(known, thread.race.known);
        for (Thread& thread : block.threads) {
            thread.race.known = known;
            memset(thread.race.lanes, 0, sizeof thread.race.lanes);
            ++thread.race.clock;
        }
    }

    bool is_shared(const Thread& self, const volatile void* address) const {
        uint64_t place;
        return in_shared(self, address, place);
    }
    uint32_t offset_of(void* pc) const { return static_cast<uint32_t>(reinterpret_cast<uint64_t>(pc) - 1 - base_); }
#ifdef SIMT_COUNTERS
    // Whether an address is that of an argument, or in the shared object.
    bool is_own(uint64_t at) const {
        for (const Extent& own : arguments_) {
            if (at >= own.low && at < own.high) return true;
        }
        return bounds_.is_own(at);
    }
#endif

    std::vector<RaceRecord> records;

private:
    [[noreturn]] void fail_bounds(const Thread& self, uint64_t at, std::size_t bytes, uint8_t kind, void* pc) const {
        const std::string what = kind & WRITES ? "write" : "read";
        scheduler->fail("out of bounds: " + what + " of " + std::to_string(bytes) + " bytes" +
                        at_code(reinterpret_cast<uint64_t>(pc) - 1) + ", " + who(self) + ", " +
                        bounds_.describe(at, at + bytes));
    }

    // Locate an address of shared memory by block, because the same memory serves one block after another.
    bool in_shared(const Thread& self, const volatile void* address, uint64_t& place) const {
        const auto start = reinterpret_cast<uint64_t>(self.block->dynamic_shared);
        const uint64_t dynamic = reinterpret_cast<uint64_t>(address) - start;
        if (dynamic < dynamic_bytes_) {
            place = uint64_t{3} << 62 | self.block->number << 24 | dynamic;
            return true;
        }
        if (scheduler->shared.contains(address)) {
            place = uint64_t{2} << 62 | self.block->number << 24 | scheduler->shared.offset(address);
            return true;
        }
        return false;
    }

    // An atomic or volatile access passes on what its thread released, and picks up what others did.
    void hand_over(Thread& self, uint64_t at, uint8_t kind) {
        if (kind & WRITES ? !self.race.released && published_.empty() : published_.empty()) return;
        auto found = published_.find(at);
        const bool both = (kind & RETURNS) != 0;
        if (found != published_.end() && (both || !(kind & WRITES))) {
            self.race.pending = join(self.race.pending, found->second);
        }
        if (!(kind & WRITES)) return;
        if (both && found != published_.end()) found->second = join(found->second, self.race.released);
        else if (self.race.released) published_[at] = self.race.released;
        else if (found != published_.end()) published_.erase(found);
    }

    bool ordered(const Thread& self, const Access& earlier) const {
        const auto block = static_cast<uint32_t>(self.block->number);
        if (earlier.block == block) {
            if (earlier.epoch < self.block->epoch) return true;
            const uint32_t mine = self.block->grid_thread(self);
            const bool same_warp = earlier.thread - (mine - self.lane) < 32;
            if (same_warp && earlier.clock <= self.race.lanes[earlier.lane]) return true;
        }
        return self.race.known && self.race.known->covers(earlier.thread, earlier.clock, earlier.block, earlier.epoch);
    }

    void check(Thread& self, Granule& granule, const Access& now, uint64_t at, bool shared) {
        Access* slot = nullptr;
        for (Access& cell : granule.cells) {
            if (!cell.used) {
                if (!slot) slot = &cell;
                continue;
            }
            if (!(cell.mask & now.mask)) continue;
            const bool before = cell.thread == now.thread || ordered(self, cell);
            if (before && replaces(now, cell)) {
                cell.used = 0;
                slot = &cell;
            } else if (!before && conflicts(cell.kind, now.kind)) {
                report(cell, now, at, shared);
            }
        }
        if (!slot) slot = &granule.cells[scheduler->random().below(CELLS)];
        *slot = now;
    }

    void report(const Access& first, const Access& second, uint64_t at, bool shared) {
        if (!seen_.insert({first.pc, second.pc}).second) return;
        records.push_back({first.pc, second.pc, first.kind, second.kind, shared,
                           {first.block, first.thread % threads_per_block_},
                           {second.block, second.thread % threads_per_block_},
                           static_cast<int32_t>(bounds_.argument_at(at))});
    }

    Bounds bounds_;
    Shadow shadow_;
    std::unordered_map<uint64_t, Knowledge> published_;
    std::set<std::pair<uint32_t, uint32_t>> seen_;
    uint32_t threads_per_block_ = 1;
    std::size_t dynamic_bytes_ = 0;
    uint64_t base_ = 0;
    bool looks_ = false;  // for races; else at bounds alone
#ifdef SIMT_COUNTERS
    Extent arguments_[2] = {};  // pointers to them, and the arguments
#endif
};

inline RaceDetector detector;

inline void race_begin(const Launch& launch) { detector.begin(launch); }
inline void race_fence() { detector.fence(*scheduler->current); }
inline void race_warp_sync(Warp& warp, uint32_t lanes) {
    detector.warp_sync(warp, lanes);
#ifdef SIMT_COUNTERS
    ++counters.totals[COLLECTIVES];
    warp.window.meet(lanes, (lanes | warp.ended) == ~0u);
#endif
}
inline void race_block_sync(Block& block) {
    detector.block_sync(block);
#ifdef SIMT_COUNTERS
    ++counters.totals[BLOCK_BARRIERS];
    for (Warp& warp : block.warps) warp.window.meet(~0u, true);
#endif
}

#ifdef SIMT_COUNTERS
// Count an access of the running thread, if it is to global memory, or an atomic on shared memory.  The arguments of the
// launch and what lies in the shared object, threadIdx for one, are no global memory.
inline void count_access(const volatile void* address, std::size_t bytes, const char* kind, bool atomic, void* pc) {
    if (!counters.clock) return;
    Thread& self = *scheduler->current;
    const auto at = reinterpret_cast<uint64_t>(address);
    const bool shared = detector.is_shared(self, address);
    if ((shared && !atomic) || (!shared && detector.is_own(at))) return;
    const uint32_t site = counters.at(detector.offset_of(pc), kind, shared);
    Site& into = counters.sites[site];
    ++into.lanes;
    into.bytes += bytes;
    ++counters.totals[ACCESSES];
    counters.totals[ATOMICS] += atomic && !shared;
    self.warp->window.touch(self.lane, site, at, bytes, atomic);
}
#endif

// Every access is a place where a seeded schedule may pre-empt, those to a thread's own variables aside.
inline void race_access(const volatile void* address, std::size_t bytes, uint8_t kind, void* pc) {
    if (!scheduler || !scheduler->current) return;
    const char* stack = scheduler->current->fiber->stack;
    if (reinterpret_cast<uint64_t>(address) - reinterpret_cast<uint64_t>(stack) < STACK_BYTES) return;
#ifdef SIMT_COUNTERS
    count_access(address, bytes, kind & WRITES ? "store" : "load", false, pc);  // under the schedule of the plain build
    static uint32_t polls = 0;
    if (kind & ATOMIC && ++polls % POLLS_BEFORE_YIELD == 0) scheduler->preempt(true);
#else
    if (--simt_atomics_left < 0) scheduler->preempt(kind & ATOMIC);
#endif
    simt_progress += kind == WRITES;
    detector.access(address, bytes, kind, pc);
}

}  // namespace simt
