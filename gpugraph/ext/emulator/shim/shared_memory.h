// Where `__shared__` variables live, and how they change hands between blocks.
//
// They are thread-local variables of the shared object, hence one contiguous range.  It is poisoned when a block
// starts, and copied out and in when blocks take turns on one worker.  The runtime's own per-worker variables lie in
// the same range when there are several workers; those are left alone.
#pragma once

#include <link.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "interface.h"

namespace simt {

constexpr unsigned char SHARED_POISON = 0xcd;

inline __thread char tls_anchor;  // makes the loader allocate this thread's range

class SharedRange {
public:
    // Find this worker's range; pieces in `kept` belong to the runtime.  Tells whether it lies elsewhere than last time,
    // as that of another thread of the host does.
    bool locate(std::vector<std::pair<char*, std::size_t>> kept) {
#ifndef SIMT_STATIC_SHARED
        tls_anchor = 1;
        if (anchor_ == &tls_anchor) return false;
        anchor_ = low_ = &tls_anchor;
        high_ = nullptr;
        pieces_.clear();
        bytes_ = 0;
        dl_iterate_phdr(&SharedRange::visit, this);
        if (high_ == nullptr) return true;
        kept.push_back({&tls_anchor, sizeof tls_anchor});
        std::sort(kept.begin(), kept.end());
        char* at = low_;
        for (auto& [start, size] : kept) {
            if (start < low_ || start >= high_) continue;
            add(at, start);
            at = start + size;
        }
        add(at, high_);
        return true;
#else
        (void)kept;
        return false;
#endif
    }
    std::size_t bytes() const { return bytes_; }
    bool contains(const volatile void* address) const {
        auto* at = const_cast<const char*>(static_cast<const volatile char*>(address));
        return bytes_ && at >= low_ && at < high_;
    }
    std::size_t offset(const volatile void* address) const {
        return static_cast<std::size_t>(const_cast<const char*>(static_cast<const volatile char*>(address)) - low_);
    }
    void poison() const {
        for (auto& [start, size] : pieces_) memset(start, SHARED_POISON, size);
    }
    void save(std::vector<char>& store) const {
        store.resize(bytes_);
        char* to = store.data();
        for (auto& [start, size] : pieces_) memcpy(to, start, size), to += size;
    }
    void restore(const std::vector<char>& store) const {
        const char* from = store.data();
        for (auto& [start, size] : pieces_) memcpy(start, from, size), from += size;
    }

private:
    void add(char* start, char* end) {
        if (end > start) pieces_.push_back({start, static_cast<std::size_t>(end - start)}), bytes_ += end - start;
    }
    static int visit(dl_phdr_info* info, std::size_t, void* self) {
        auto& range = *static_cast<SharedRange*>(self);
        if (!info->dlpi_tls_data) return 0;
        auto* start = static_cast<char*>(info->dlpi_tls_data);
        for (int i = 0; i < info->dlpi_phnum; ++i) {
            const auto& header = info->dlpi_phdr[i];
            if (header.p_type != PT_TLS || range.low_ < start || range.low_ >= start + header.p_memsz) continue;
            range.low_ = start;
            range.high_ = start + header.p_memsz;
            return 1;
        }
        return 0;
    }

    const char* anchor_ = nullptr;
    char *low_ = nullptr, *high_ = nullptr;
    std::size_t bytes_ = 0;
    std::vector<std::pair<char*, std::size_t>> pieces_;
};

}  // namespace simt
