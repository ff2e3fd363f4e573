/* gpugraph_peer.h: makes a C++ or CUDA program a peer of gpugraph: it times, repeats and prints.

   Copyright (c) 2026 The gpugraph founders.
   SPDX-License-Identifier: BSD-3-Clause

   Redistribution and use in source and binary forms, with or without modification, are permitted provided that the
   following conditions are met: redistributions of source code retain this notice; redistributions in binary form
   reproduce it in their documentation; the names of the founders are not used to endorse derived products.  THIS
   SOFTWARE IS PROVIDED "AS IS", WITHOUT ANY EXPRESS OR IMPLIED WARRANTY; IN NO EVENT ARE THE FOUNDERS LIABLE FOR ANY
   DAMAGES ARISING FROM ITS USE.

   Three lines in a main that has read its graph:

       gpugraph_peer peer("ecl-mst db9000a", runs);               // name and commit; a run to warm up, then `runs`
       while (peer.run()) weight = solve(graph);                  // the call that is timed, nothing else
       peer.answer("weight", weight);                             // or "distances", "components"

   A program with a stopwatch of its own hands its time over inside the loop: peer.own_ms(milliseconds).

   Printed are `version: …`, a `time_ms: …` for each run, and the answer.  Built by nvcc, a time is that between two
   events on an idle stream, with the launch inside, and `wall_ms: …` the host's of the same call; built by a C++
   compiler it is the host's.  The table of docs/peers.md:

       [peer.ecl-mst]
       command = "ecl-mst {graph.egr} {runs}"
       time = '^time_ms: (\S+)'
       unit = "ms"
       warmup = 1
       weight = '^weight: ([0-9]+)'
*/
#ifndef GPUGRAPH_PEER_H
#define GPUGRAPH_PEER_H

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <iomanip>
#include <iostream>
#include <limits>

#ifdef __CUDACC__
#include <cuda_runtime.h>
#endif

class gpugraph_peer {
public:
#ifdef __CUDACC__
    /* `stream` is where the call's work is queued, if not on the default stream: the events are recorded there. */
    gpugraph_peer(const char* name, int runs, cudaStream_t stream = 0) : stream_(stream), left_(runs + 1) {
#else
    gpugraph_peer(const char* name, int runs) : left_(runs + 1) {
#endif
        std::cout << "version: " << name;
#ifdef __CUDACC_VER_MAJOR__
        std::cout << ", nvcc " << __CUDACC_VER_MAJOR__ << "." << __CUDACC_VER_MINOR__;
#endif
#ifdef __VERSION__
        std::cout << ", C++ compiler " << __VERSION__;
#endif
        std::cout << "\n";
#ifdef __CUDACC__
        check(cudaEventCreate(&from_));
        check(cudaEventCreate(&to_));
#endif
    }

    /* Ends the run before, prints its time, and begins the next; false after the last. */
    bool run() {
        if (running_) end();
        running_ = left_-- > 0;
        has_own_ = false;
        if (running_) begin();
        return running_;
    }

    /* The program's own time of this run, in milliseconds; gpugraph refuses one that is no time. */
    void own_ms(double milliseconds) { own_ = milliseconds, has_own_ = true; }

    template <typename Value>
    void answer(const char* figure, Value value) const {
        std::cout << std::setprecision(std::numeric_limits<double>::max_digits10) << figure << ": " << value << std::endl;
    }

private:
    using clock = std::chrono::steady_clock;

    void begin() {
#ifdef __CUDACC__
        check(cudaDeviceSynchronize());
        start_ = clock::now();
        check(cudaEventRecord(from_, stream_));
#else
        start_ = clock::now();
#endif
    }

    void end() {
#ifdef __CUDACC__
        check(cudaGetLastError());  // a launch that was refused takes no time
        check(cudaEventRecord(to_, stream_));
        check(cudaDeviceSynchronize());
#endif
        double wall = std::chrono::duration<double, std::milli>(clock::now() - start_).count(), time = wall;
#ifdef __CUDACC__
        float events = 0;
        check(cudaEventElapsedTime(&events, from_, to_));
        time = events;
#endif
        std::cout << std::fixed << std::setprecision(6) << "time_ms: " << (has_own_ ? own_ : time) << "\n"
                  << "wall_ms: " << wall << "\n" << std::defaultfloat;
    }

#ifdef __CUDACC__
    static void check(cudaError_t status) {
        if (status != cudaSuccess) {
            std::cerr << cudaGetErrorString(status) << std::endl;
            std::exit(1);
        }
    }
    cudaEvent_t from_, to_;
    cudaStream_t stream_;
#endif
    int left_;
    bool running_ = false, has_own_ = false;
    double own_ = 0;
    clock::time_point start_;
};

#endif
