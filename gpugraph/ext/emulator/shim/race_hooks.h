// The functions that -fsanitize=thread makes the compiler call at each load and store.
//
// The kernel is compiled with that flag but not linked with its library: these take the library's place.
#pragma once

#include "races.h"

#define SIMT_PC __builtin_return_address(0)
#define SIMT_HOOK(name, bytes, kind) \
    void __tsan_##name(void* address) { simt::race_access(address, bytes, kind, SIMT_PC); }
#define SIMT_HOOKS(bytes)                                                        \
    SIMT_HOOK(read##bytes, bytes, simt::PLAIN_READ)                              \
    SIMT_HOOK(write##bytes, bytes, simt::WRITES)                                 \
    SIMT_HOOK(unaligned_read##bytes, bytes, simt::PLAIN_READ)                    \
    SIMT_HOOK(unaligned_write##bytes, bytes, simt::WRITES)                       \
    SIMT_HOOK(volatile_read##bytes, bytes, simt::ATOMIC)                         \
    SIMT_HOOK(volatile_write##bytes, bytes, simt::ATOMIC | simt::WRITES)         \
    SIMT_HOOK(unaligned_volatile_read##bytes, bytes, simt::ATOMIC)               \
    SIMT_HOOK(unaligned_volatile_write##bytes, bytes, simt::ATOMIC | simt::WRITES)

extern "C" {
SIMT_HOOKS(1)
SIMT_HOOKS(2)
SIMT_HOOKS(4)
SIMT_HOOKS(8)
SIMT_HOOKS(16)
void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_vptr_read(void**) {}
void __tsan_vptr_update(void**, void*) {}
void __tsan_read_range(void* address, std::size_t bytes) {
    simt::race_access(address, bytes, simt::PLAIN_READ, SIMT_PC);
}
void __tsan_write_range(void* address, std::size_t bytes) {
    simt::race_access(address, bytes, simt::WRITES, SIMT_PC);
}
void* __tsan_memcpy(void* to, const void* from, std::size_t bytes) {
    simt::race_access(from, bytes, simt::PLAIN_READ, SIMT_PC);
    simt::race_access(to, bytes, simt::WRITES, SIMT_PC);
    return memcpy(to, from, bytes);
}
void* __tsan_memmove(void* to, const void* from, std::size_t bytes) {
    simt::race_access(from, bytes, simt::PLAIN_READ, SIMT_PC);
    simt::race_access(to, bytes, simt::WRITES, SIMT_PC);
    return memmove(to, from, bytes);
}
void* __tsan_memset(void* to, int value, std::size_t bytes) {
    simt::race_access(to, bytes, simt::WRITES, SIMT_PC);
    return memset(to, value, bytes);
}

void simt_race_atomic(const volatile void* address, unsigned bytes, [[maybe_unused]] const char* name, void* pc) {
    if (!simt::scheduler || !simt::scheduler->current) return;
#ifdef SIMT_COUNTERS
    simt::count_access(address, bytes, name, true, pc);
#endif
    simt::detector.access(address, bytes, simt::ATOMIC | simt::WRITES | simt::RETURNS, pc);
}

// Hand the races found since the last call to the host; returns how many there are, at most `capacity` are written.
__attribute__((visibility("default"))) uint32_t simt_take_races(simt::RaceRecord* into, uint32_t capacity) {
    auto& records = simt::detector.records;
    const auto count = static_cast<uint32_t>(records.size());
    for (uint32_t i = 0; i < std::min(count, capacity); ++i) into[i] = records[i];
    if (count <= capacity) records.clear();
    return count;
}
#ifdef SIMT_COUNTERS
// Hand what the last launch did to the host: totals, and sites; returns how many sites there are.
__attribute__((visibility("default"))) uint32_t simt_counts(uint64_t* totals, const simt::Site** sites) {
    std::copy_n(simt::counters.totals, simt::TOTALS, totals);
    *sites = simt::counters.sites.data();
    return static_cast<uint32_t>(simt::counters.sites.size());
}
#endif
}
