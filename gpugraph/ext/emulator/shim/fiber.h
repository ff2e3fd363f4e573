// Fibers: execution contexts with a stack of their own, switched in a dozen instructions.
//
// A switch saves the callee-saved registers on the old stack and restores them from the new one; ucontext, the
// fallback for other processors, asks the kernel for the signal mask at each switch and is some 20 times slower.
// Stacks lie a little more than a power of two apart: were they exactly that, all their tops would compete for the
// same cache set.
#pragma once

#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#if !defined(__x86_64__) && !defined(__aarch64__) && !defined(SIMT_UCONTEXT)
#define SIMT_UCONTEXT
#endif
#ifdef SIMT_UCONTEXT
#include <ucontext.h>
#endif

#ifdef SIMT_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace simt {

#ifdef SIMT_ASAN
constexpr std::size_t STACK_BYTES = (256 << 10) + 320;
#else
constexpr std::size_t STACK_BYTES = (64 << 10) + 320;
#endif
constexpr std::size_t STACKS_PER_CHUNK = 64;
constexpr uint64_t CANARY = 0x5afe57ac5afe57acull;

struct Fiber {
#ifdef SIMT_UCONTEXT
    ucontext_t context;
#else
    void* stack_pointer = nullptr;
#endif
    char* stack = nullptr;  // its lowest byte; nullptr for the host's own stack
    void* asan_stack = nullptr;
    const void* host_stack = nullptr;  // what AddressSanitizer reported of the host's stack
    std::size_t host_stack_bytes = 0;

    bool overflowed() const { return stack && memcmp(stack, &CANARY, sizeof CANARY) != 0; }
};

#if defined(SIMT_UCONTEXT)
#elif defined(__x86_64__)
asm(R"(
.pushsection .text
.globl simt_switch
.hidden simt_switch
.type simt_switch,@function
simt_switch:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
.size simt_switch,.-simt_switch
.popsection
)");
constexpr int SAVED_WORDS = 6;  // then the return address
#elif defined(__aarch64__)
asm(R"(
.pushsection .text
.globl simt_switch
.hidden simt_switch
.type simt_switch,%function
simt_switch:
    sub sp, sp, #160
    stp x19, x20, [sp, #0]
    stp x21, x22, [sp, #16]
    stp x23, x24, [sp, #32]
    stp x25, x26, [sp, #48]
    stp x27, x28, [sp, #64]
    stp x29, x30, [sp, #80]
    stp d8, d9, [sp, #96]
    stp d10, d11, [sp, #112]
    stp d12, d13, [sp, #128]
    stp d14, d15, [sp, #144]
    mov x9, sp
    str x9, [x0]
    mov sp, x1
    ldp x19, x20, [sp, #0]
    ldp x21, x22, [sp, #16]
    ldp x23, x24, [sp, #32]
    ldp x25, x26, [sp, #48]
    ldp x27, x28, [sp, #64]
    ldp x29, x30, [sp, #80]
    ldp d8, d9, [sp, #96]
    ldp d10, d11, [sp, #112]
    ldp d12, d13, [sp, #128]
    ldp d14, d15, [sp, #144]
    add sp, sp, #160
    ret
.size simt_switch,.-simt_switch
.popsection
)");
#endif
#ifndef SIMT_UCONTEXT
extern "C" void simt_switch(void** save_stack_pointer, void* stack_pointer);
#endif

// Lay out a fresh stack so that the first switch to it enters `entry`.
inline void prepare(Fiber& fiber, void (*entry)()) {
    memcpy(fiber.stack, &CANARY, sizeof CANARY);
    fiber.asan_stack = nullptr;
#ifdef SIMT_ASAN
    __asan_unpoison_memory_region(fiber.stack, STACK_BYTES);
#endif
#ifdef SIMT_UCONTEXT
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = fiber.stack;
    fiber.context.uc_stack.ss_size = STACK_BYTES;
    fiber.context.uc_link = nullptr;
    makecontext(&fiber.context, entry, 0);
#else
    auto top = reinterpret_cast<uintptr_t>(fiber.stack + STACK_BYTES) & ~uintptr_t{15};
    auto* words = reinterpret_cast<uintptr_t*>(top);
#if defined(__x86_64__)
    *--words = 0;  // where unwinding ends; it leaves `entry` its stack aligned as after a call
    *--words = reinterpret_cast<uintptr_t>(entry);
    for (int i = 0; i < SAVED_WORDS; ++i) *--words = 0;
#else
    words -= 20;
    memset(words, 0, 160);
    words[11] = reinterpret_cast<uintptr_t>(entry);  // x30
#endif
    fiber.stack_pointer = words;
#endif
}

// AddressSanitizer has to know of both ends of a switch.
inline void arrived(Fiber& self, Fiber& host) {
#ifdef SIMT_ASAN
    const void* bottom;
    std::size_t bytes;
    __sanitizer_finish_switch_fiber(self.asan_stack, &bottom, &bytes);
    if (!host.host_stack) host.host_stack = bottom, host.host_stack_bytes = bytes;
#else
    (void)self, (void)host;
#endif
}

inline void switch_fiber(Fiber& from, Fiber& to, Fiber& host) {
#ifdef SIMT_ASAN
    __sanitizer_start_switch_fiber(&from.asan_stack, to.stack ? to.stack : to.host_stack,
                                   to.stack ? STACK_BYTES : to.host_stack_bytes);
#endif
#ifdef SIMT_UCONTEXT
    swapcontext(&from.context, &to.context);
#else
    simt_switch(&from.stack_pointer, to.stack_pointer);
#endif
    arrived(from, host);
}

// A pool of fibers that all begin in the same function.
class FiberPool {
public:
    explicit FiberPool(void (*entry)()) : entry_(entry) {}
    FiberPool(const FiberPool&) = delete;
    ~FiberPool() {
        for (char* chunk : chunks_) munmap(chunk, STACK_BYTES * STACKS_PER_CHUNK);
        for (Fiber* fiber : all_) delete fiber;
    }

    Fiber* acquire() {
        if (free_.empty()) grow();
        Fiber* fiber = free_.back();
        free_.pop_back();
        return fiber;
    }
    void release(Fiber* fiber) { free_.push_back(fiber); }

    // Forget what all fibers were doing: the launch was given up.
    void reset() {
        free_ = all_;
        for (Fiber* fiber : all_) prepare(*fiber, entry_);
    }

private:
    void grow() {
        void* chunk = mmap(nullptr, STACK_BYTES * STACKS_PER_CHUNK, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (chunk == MAP_FAILED) abort();
        madvise(chunk, STACK_BYTES * STACKS_PER_CHUNK, MADV_NOHUGEPAGE);  // a stack touches a page or two
        chunks_.push_back(static_cast<char*>(chunk));
        for (std::size_t i = 0; i < STACKS_PER_CHUNK; ++i) {
            auto* fiber = new Fiber;
            fiber->stack = chunks_.back() + i * STACK_BYTES;
            prepare(*fiber, entry_);
            all_.push_back(fiber);
            free_.push_back(fiber);
        }
    }

    void (*entry_)();
    std::vector<char*> chunks_;
    std::vector<Fiber*> all_, free_;
};

}  // namespace simt
