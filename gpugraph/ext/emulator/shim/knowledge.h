// What a thread knows to have happened: the clocks of the race detector, kept sparse.
//
// A vector clock with an entry per thread would not fit.  Here knowledge is "all of block b before its barrier e" plus
// "thread t up to its clock c", which is what barriers and fences really say.  Values are immutable and shared.
// Source: Flanagan and Freund 2009, FastTrack (clocks and epochs); the two-level form is our own.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace simt {

struct ThreadClock {
    uint32_t thread, clock, block, epoch;
};
struct BlockClock {
    uint32_t block, epoch;  // everything before this barrier of the block is known
};

struct KnowledgeValue {
    std::vector<BlockClock> blocks;    // by block
    std::vector<ThreadClock> threads;  // by thread

    uint32_t epoch_of(uint32_t block) const {
        std::size_t low = 0, high = blocks.size();
        while (low < high) {
            const std::size_t middle = (low + high) / 2;
            if (blocks[middle].block < block) low = middle + 1;
            else high = middle;
        }
        return low < blocks.size() && blocks[low].block == block ? blocks[low].epoch : 0;
    }
    bool covers(uint32_t thread, uint32_t clock, uint32_t block, uint32_t epoch) const {
        if (epoch < epoch_of(block)) return true;
        std::size_t low = 0, high = threads.size();
        while (low < high) {
            const std::size_t middle = (low + high) / 2;
            if (threads[middle].thread < thread) low = middle + 1;
            else high = middle;
        }
        return low < threads.size() && threads[low].thread == thread && clock <= threads[low].clock;
    }
};
using Knowledge = std::shared_ptr<const KnowledgeValue>;

// Merge two sequences sorted by `key`; `newer` chooses between entries of the same key.
template <class Entry, class Key, class Newer>
std::vector<Entry> merge(const std::vector<Entry>& a, const std::vector<Entry>& b, Key key, Newer newer) {
    std::vector<Entry> result;
    result.reserve(a.size() + b.size());
    std::size_t i = 0, j = 0;
    while (i < a.size() || j < b.size()) {
        if (j == b.size() || (i < a.size() && key(a[i]) < key(b[j]))) result.push_back(a[i++]);
        else if (i == a.size() || key(b[j]) < key(a[i])) result.push_back(b[j++]);
        else result.push_back(newer(a[i], b[j])), ++i, ++j;
    }
    return result;
}

inline Knowledge join(const Knowledge& a, const Knowledge& b) {
    if (!b || a == b) return a;
    if (!a) return b;
    auto result = std::make_shared<KnowledgeValue>();
    result->blocks = merge(
        a->blocks, b->blocks, [](const BlockClock& entry) { return entry.block; },
        [](const BlockClock& x, const BlockClock& y) { return x.epoch < y.epoch ? y : x; });
    const auto all = merge(
        a->threads, b->threads, [](const ThreadClock& entry) { return entry.thread; },
        [](const ThreadClock& x, const ThreadClock& y) { return x.clock < y.clock ? y : x; });
    for (const ThreadClock& entry : all) {
        if (entry.epoch >= result->epoch_of(entry.block)) result->threads.push_back(entry);
    }
    return result;
}

// What a thread carries for the detector.
struct RaceState {
    uint32_t clock = 1;        // of its own accesses; steps at every synchronisation
    uint32_t lanes[32] = {};   // clocks of its warp's lanes that it knows of, since the last barrier
    Knowledge known;           // of other blocks and warps
    Knowledge pending;         // read by atomics, known only after the next fence
    Knowledge released;        // as of its last fence: what its atomics pass on
};

}  // namespace simt
