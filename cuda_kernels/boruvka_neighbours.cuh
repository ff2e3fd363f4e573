/*
The neighbours of a vertex, as they are stored: a target for each arc, or compressed to a byte and two bits each.

    targets (arcs)                           plain: the target of every arc; compressed: those of the rows kept
    base (n)                                 compressed: the row's least neighbour, or ~r of the r-th row kept
    base_byte (arcs)  base_bits (arcs / 4)   the target is base + 256 * bits + byte; four arcs share a byte of bits
    kept_shift (rows kept)                   what to add to an arc's position to find its target in `targets`

A row whose neighbours spread over more than 1023 numbers is kept as it is.

Define:
    COMPRESSED 0 | 1      0 reads `targets` alone, and the other arrays are not touched

Source: A. Kolganov, 2015, section "Input Conversion", 4: base_J + 256 * k + short_endV.
*/
#ifndef GPUGRAPH_BORUVKA_NEIGHBOURS_CUH
#define GPUGRAPH_BORUVKA_NEIGHBOURS_CUH

#ifndef COMPRESSED
#define COMPRESSED 0
#endif

struct Neighbours {
    const int32* __restrict__ targets;
    const int32* __restrict__ base;
    const uint8* __restrict__ base_byte;
    const uint8* __restrict__ base_bits;
    const index_t* __restrict__ kept_shift;
};

// What one row's arcs have in common.
struct Row {
    int32 base;  // negative: the row is kept as it is
    index_t shift;
};

__device__ __forceinline__ Row open_row(const Neighbours& graph, int32 u) {
    Row row = {0, 0};
#if COMPRESSED
    row.base = graph.base[u];
    if (row.base < 0) row.shift = graph.kept_shift[~row.base];
#endif
    return row;
}

// The vertex that an arc of the row leads to.
__device__ __forceinline__ int32 target_of(const Neighbours& graph, const Row& row, index_t arc) {
#if COMPRESSED
    if (row.base < 0) return graph.targets[row.shift + arc];
    const int32 bits = graph.base_bits[arc >> 2] >> (2 * static_cast<int>(arc & 3)) & 3;
    return row.base + 256 * bits + graph.base_byte[arc];
#else
    return graph.targets[arc];
#endif
}

// Position of the arc u->v in the row [begin, end) of u, which ascends and holds it.
__device__ __forceinline__ index_t arc_to(const Neighbours& graph, int32 u, index_t begin, index_t end, int32 v) {
    const Row row = open_row(graph, u);
    while (begin < end) {
        const index_t middle = begin + (end - begin) / 2;
        if (target_of(graph, row, middle) < v) {
            begin = middle + 1;
        } else {
            end = middle;
        }
    }
    return begin;
}

#endif
