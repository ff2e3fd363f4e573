/*
A graph as compressed sparse rows: the arcs of vertex v are those from offsets[v] on, before offsets[v + 1].
*/
#ifndef GPUGRAPH_CSR_CUH
#define GPUGRAPH_CSR_CUH

#include "common.cuh"

struct Graph {
    int32 vertices;
    index_t arcs;
    const index_t* __restrict__ offsets;
    const int32* __restrict__ targets;
    const weight_t* __restrict__ weights;
};

#endif
