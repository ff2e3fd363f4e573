// The sentences in which a launch that cannot go on is reported.
#pragma once

#include <dlfcn.h>

#include <cstdio>
#include <map>
#include <string>
#include <tuple>

#include "scheduler.h"

namespace simt {

inline std::string text(const uint3_& at) {
    return "(" + std::to_string(at.x) + "," + std::to_string(at.y) + "," + std::to_string(at.z) + ")";
}

inline std::string text(const Place& place) {
    if (!place.line) return place.file;
    const char* slash = strrchr(place.file, '/');
    return std::string(slash ? slash + 1 : place.file) + ":" + std::to_string(place.line);
}

// A place in the code, which the host turns into file and line.
inline std::string at_code(uint64_t program_counter) {
    Dl_info info;
    if (!program_counter || !dladdr(reinterpret_cast<void*>(program_counter), &info)) return "";
    return " @" + std::to_string(program_counter - reinterpret_cast<uint64_t>(info.dli_fbase)) + "@";
}

inline std::string who(const Thread& thread) {
    return "block " + text(thread.block->index) + " thread " + text(thread.index);
}

inline std::string hexadecimal(uint32_t mask) {
    char buffer[16];
    snprintf(buffer, sizeof buffer, "0x%08x", mask);
    return buffer;
}

inline const char* name(Collective operation) {
    static const char* const names[] = {
        "__syncwarp",        "__shfl_sync",       "__shfl_up_sync",    "__shfl_down_sync",  "__shfl_xor_sync",
        "__ballot_sync",     "__any_sync",        "__all_sync",        "__match_any_sync",  "__match_all_sync",
        "__reduce_add_sync", "__reduce_min_sync", "__reduce_max_sync", "__reduce_min_sync", "__reduce_max_sync",
        "__reduce_and_sync", "__reduce_or_sync",  "__reduce_xor_sync"};
    return names[operation];
}

inline const char* name(Barrier kind) {
    static const char* const names[] = {"__syncthreads", "__syncthreads_count", "__syncthreads_and",
                                        "__syncthreads_or"};
    return names[kind];
}

// What a thread that does not run is doing, or "" for one that has ended.
inline std::string waits(const Thread& thread) {
    switch (thread.state) {
        case State::IN_WARP:
            return std::string(name(thread.operation)) + " mask " + hexadecimal(thread.mask) + " (" +
                   text(thread.place) + ")";
        case State::AT_BARRIER:
            return std::string(name(thread.block->barrier_kind)) + " (" + text(thread.place) + ")";
        case State::ENDED: return "";
        default: return thread.sleeps ? "__nanosleep (" + text(thread.place) + ")" : "a loop without __nanosleep";
    }
}

inline std::string bad_mask(const Thread& thread) {
    return "bad mask: " + who(thread) + ", lane " + std::to_string(thread.lane) + ", calls " + name(thread.operation) +
           " with mask " + hexadecimal(thread.mask) + ", which leaves itself out (" + text(thread.place) + ")";
}

inline std::string bad_width(const Thread& thread) {
    return "bad width: " + who(thread) + " calls " + name(thread.operation) + " with width " +
           std::to_string(thread.width) + ", not a power of two up to 32 (" + text(thread.place) + ")";
}

inline std::string divergent_barrier(const Thread& thread) {
    const Block& block = *thread.block;
    return "divergent barrier: " + who(thread) + " is at a barrier at " + text(thread.place) + " while " +
           std::to_string(block.at_barrier - 1) + " threads of its block wait in " + name(block.barrier_kind) + " at " +
           text(block.barrier_place);
}

// Group the threads of a block by what they wait for: "41 threads wait in __syncthreads (k.cu:83), first (0,0,0)".
inline std::string standing(const Block& block) {
    std::map<std::string, std::pair<int, const Thread*>> groups;
    int ended = 0;
    for (const Thread& thread : block.threads) {
        const std::string what = waits(thread);
        if (what.empty()) {
            ++ended;
            continue;
        }
        auto& group = groups[what];
        if (group.first++ == 0) group.second = &thread;
    }
    std::string report;
    int listed = 0;
    for (const auto& [what, group] : groups) {
        if (++listed > 6) {
            report += "; and " + std::to_string(groups.size() - 6) + " more places";
            break;
        }
        report += (report.empty() ? "" : "; ") + std::to_string(group.first) +
                  (group.first == 1 ? " thread waits in " : " threads wait in ") + what + ", first " +
                  text(group.second->index);
    }
    return report + "; " + std::to_string(ended) + " have ended";
}

inline void Scheduler::fail_deadlock(const Block& block) {
    fail("deadlock in block " + text(block.index) + ": " + standing(block));
}

inline void Scheduler::fail_spinning() {
    std::string report = "endless wait: nothing changes any more, " +
                         std::to_string(under_way_.size()) + " blocks are under way, " +
                         std::to_string(exhausted_ ? 0 : common_->blocks - common_->next_block) + " have not started";
    int listed = 0;
    for (const Block* block : under_way_) {
        if (++listed > 3) break;
        report += "; block " + text(block->index) + ": " + standing(*block);
    }
    fail(report);
}

}  // namespace simt
