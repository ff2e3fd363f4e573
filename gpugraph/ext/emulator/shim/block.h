// A block under way: its threads, warps, what waits where, and its shared memory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "fiber.h"
#include "interface.h"
#include "random.h"
#ifdef SIMT_RACES
#include "knowledge.h"
#endif
#ifdef SIMT_COUNTERS
#include "counters.h"
#endif

namespace simt {

struct uint3_ { unsigned x, y, z; };

enum class State : uint8_t { RUNNING, READY, IN_WARP, AT_BARRIER, ASLEEP, ENDED };

struct Block;
struct Warp;

struct Thread {
    uint3_ index;
    uint32_t number;  // in its block
    uint8_t lane;
    State state = State::ENDED;
    bool sleeps = false;  // last gave way by its own will
    Collective operation;
    uint32_t mask;
    int argument, width;
    uint64_t value, result;
    Place place;
    Fiber* fiber;
    Warp* warp;
    Block* block;
#ifdef SIMT_RACES
    RaceState race;
#endif
};

struct Warp {
    Thread* threads;
    uint32_t absent;   // lanes that the block has no thread for
    uint32_t ended;    // and those whose thread has ended
    uint32_t waiting;  // lanes in a collective
#ifdef SIMT_COUNTERS
    WarpWindow window;
#endif
};

// Threads that can run, first come first served; each is in it at most once.
class Queue {
public:
    void resize(std::size_t threads) {
        std::size_t capacity = 1;
        while (capacity < threads) capacity *= 2;
        slots_.resize(capacity);
        head_ = tail_ = 0;
    }
    bool empty() const { return head_ == tail_; }
    std::size_t size() const { return tail_ - head_; }
    void push(Thread* thread) { slots_[tail_++ & (slots_.size() - 1)] = thread; }
    Thread* pop() { return slots_[head_++ & (slots_.size() - 1)]; }
    Thread* pop_any(Random& random) {
        std::swap(slots_[head_ & (slots_.size() - 1)], slots_[(head_ + random.below(size())) & (slots_.size() - 1)]);
        return pop();
    }
    void clear() { head_ = tail_ = 0; }

private:
    std::vector<Thread*> slots_;
    std::size_t head_ = 0, tail_ = 0;
};

struct Block {
    uint3_ index;
    uint64_t number = 0;  // in the grid
    std::vector<Thread> threads;
    std::vector<Warp> warps;
    std::vector<uint32_t> order;  // in which threads start; empty: by number
    uint32_t begun = 0;           // threads started
    uint32_t live = 0;            // threads not ended
    Queue ready;
    std::vector<Thread*> asleep;

    uint32_t at_barrier = 0;
    Barrier barrier_kind;
    Place barrier_place;
    int count = 0;

    bool communicated = false;  // used a collective: its shared memory may be dirty
    std::vector<char> static_shared;  // while another block has its turn
    char* dynamic_shared = nullptr;
    uint32_t epoch = 0;  // barriers passed

    // Make room for blocks of one shape; what stays the same from block to block is set here.
    void shape(const uint32_t (&extent)[3]) {
        const uint32_t total = extent[0] * extent[1] * extent[2];
        threads.resize(total);
        warps.resize((total + 31) / 32);
        ready.resize(total);
        for (uint32_t i = 0; i < total; ++i) {
            Thread& thread = threads[i];
            thread.index = {i % extent[0], i / extent[0] % extent[1], i / extent[0] / extent[1]};
            thread.number = i;
            thread.lane = i % 32;
            thread.warp = &warps[i / 32];
            thread.block = this;
            thread.state = State::ENDED;
        }
        for (uint32_t w = 0; w < warps.size(); ++w) {
            const uint32_t lanes = std::min<uint32_t>(32, total - w * 32);
            warps[w].threads = &threads[w * 32];
            warps[w].absent = lanes == 32 ? 0 : ~0u << lanes;
        }
    }

    void begin(uint64_t block_number, const uint32_t (&grid)[3], Random& random, bool shuffled) {
        number = block_number;
        index = {static_cast<unsigned>(number % grid[0]), static_cast<unsigned>(number / grid[0] % grid[1]),
                 static_cast<unsigned>(number / grid[0] / grid[1])};
        begun = at_barrier = epoch = 0;
        live = static_cast<uint32_t>(threads.size());
        communicated = false;
        ready.clear();
        asleep.clear();
        for (Warp& warp : warps) warp.ended = warp.absent, warp.waiting = 0;
#ifdef SIMT_RACES
        for (Thread& thread : threads) thread.race = RaceState();
#endif
        order.clear();
        if (shuffled) shuffle_order(random);
    }

    uint32_t grid_thread(const Thread& thread) const {
        return static_cast<uint32_t>(number * threads.size()) + thread.number;
    }
    bool fresh() const { return begun < threads.size(); }
    Thread* take_fresh() {
        const uint32_t at = begun++;
        return &threads[order.empty() ? at : order[at]];
    }

private:
    // Half of the schedules shuffle all threads, half shuffle warps and the lanes inside each.
    void shuffle_order(Random& random) {
        order.resize(threads.size());
        for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
        if (random.below(2)) {
            random.shuffle(order.begin(), order.end());
            return;
        }
        std::vector<uint32_t> warp_order(warps.size()), shuffled;
        for (uint32_t w = 0; w < warp_order.size(); ++w) warp_order[w] = w;
        random.shuffle(warp_order.begin(), warp_order.end());
        for (uint32_t w : warp_order) {
            const std::size_t first = shuffled.size();
            const auto end = static_cast<uint32_t>(std::min<std::size_t>(threads.size(), w * 32 + 32));
            for (uint32_t i = w * 32; i < end; ++i) shuffled.push_back(i);
            random.shuffle(shuffled.begin() + static_cast<std::ptrdiff_t>(first), shuffled.end());
        }
        order = shuffled;
    }
};

}  // namespace simt
