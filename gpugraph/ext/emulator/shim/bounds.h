// Bounds of the memory that a kernel may touch, for the build that sees every access.
//
// That is: the arrays it was given, its shared memory, its own stack, and what lies in the shared object itself.
#pragma once

#include <link.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "interface.h"

namespace simt {

class Bounds {
public:
    void begin(const Launch& launch) {
        arrays_.assign(launch.extents, launch.extents + launch.extent_count);
        last_ = {0, 0, 0};
        if (!own_.empty()) return;
        dl_iterate_phdr(&Bounds::visit, this);
    }
    // Whether bounds are known at all; a structure among the arguments may carry pointers.
    bool known() const { return !arrays_.empty(); }

    bool contains(uint64_t low, uint64_t high) {
        if (low >= last_.low && high <= last_.high) return true;
        for (const auto* list : {&arrays_, &own_}) {
            for (const Extent& extent : *list) {
                if (low >= extent.low && high <= extent.high) return last_ = extent, true;
            }
        }
        return false;
    }

    // Whether an address lies in the shared object.
    bool is_own(uint64_t at) const {
        return std::any_of(own_.begin(), own_.end(), [=](const Extent& own) { return at >= own.low && at < own.high; });
    }

    // The argument that gave access to an address, or -1.
    int64_t argument_at(uint64_t address) const {
        for (const Extent& extent : arrays_) {
            if (address >= extent.low && address < extent.high) return extent.argument;
        }
        return -1;
    }

    // "4 bytes past the end of argument 2 (400 bytes)", for the array that lies nearest.
    std::string describe(uint64_t low, uint64_t high) const {
        const Extent* nearest = nullptr;
        uint64_t least = ~uint64_t{0};
        for (const Extent& extent : arrays_) {
            if (extent.argument < 0) continue;
            const uint64_t gap = distance(extent, low, high);
            if (gap < least) least = gap, nearest = &extent;
        }
        if (!nearest || least > (1u << 20)) return "far from every array";
        return std::to_string(least) + (high > nearest->high ? " bytes past the end" : " bytes before the start") +
               " of argument " + std::to_string(nearest->argument) + ", an array of " +
               std::to_string(nearest->high - nearest->low) + " bytes";
    }

private:
    static uint64_t distance(const Extent& extent, uint64_t low, uint64_t high) {
        return high > extent.high ? high - extent.high : extent.low - low;
    }
    static int visit(dl_phdr_info* info, std::size_t, void* self) {
        auto& bounds = *static_cast<Bounds*>(self);
        const auto here = reinterpret_cast<uint64_t>(&simt_kernel_count);
        std::vector<Extent> found;
        bool ours = false;
        for (int i = 0; i < info->dlpi_phnum; ++i) {
            const auto& header = info->dlpi_phdr[i];
            if (header.p_type != PT_LOAD) continue;
            const uint64_t low = info->dlpi_addr + header.p_vaddr;
            found.push_back({low, low + header.p_memsz, -1});
            ours |= here >= low && here < low + header.p_memsz;
        }
        if (ours) bounds.own_ = found;
        return ours;
    }

    std::vector<Extent> arrays_, own_;
    Extent last_{};
};

}  // namespace simt
