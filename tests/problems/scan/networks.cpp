// Counts the additions of a network of prefix_scan/networks.cuh, with a block of one thread.
// Built with NETWORK; prints them, and fails where the sums are wrong.
#include <cstdio>

enum { TILE = 4096, BLOCK = 1, VECTORS = 0, WIDTH = 0 };
long additions = 0;
struct element_t {
    unsigned value;
    element_t(unsigned value = 0) : value(value) {}
    void operator+=(element_t other) { value += other.value, ++additions; }
};
struct {
    int x;
} threadIdx;
typedef int uint4;
struct Items {
    struct {
        uint4 word;
        element_t at[1];
    } row[1];
};
int place(int) { return 0; }
void __syncthreads() {}
#define __device__
#define __forceinline__
#include "prefix_scan/networks.cuh"

int main() {
    static element_t at[TILE];
    for (int i = 0; i < TILE; ++i) at[i] = i * i + 1;
    run_network(at);
    unsigned sum = 0;
    for (int i = 0; i < TILE; ++i)
        if (at[i].value != (sum += i * i + 1)) return 1;
    std::printf("%ld\n", additions);
}
