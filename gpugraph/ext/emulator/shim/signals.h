// Turn the processor's faults inside a kernel into a report, instead of the end of the process.
//
// A fault is synchronous, so the handler may abandon the fiber that caused it and resume the host.  Handlers stand for
// the time of a launch only.  AddressSanitizer reports faults itself.
#pragma once

#include <pthread.h>
#include <signal.h>
#include <ucontext.h>

#include "reports.h"

namespace simt {

#ifndef SIMT_ASAN

class FaultGuard {
public:
    FaultGuard() {
        launcher() = pthread_self();
        struct sigaction action = {};
        action.sa_sigaction = &FaultGuard::handle;
        action.sa_flags = SA_SIGINFO | SA_NODEFER;
        sigemptyset(&action.sa_mask);
        for (int i = 0; i < COUNT; ++i) sigaction(SIGNALS[i], &action, &before_[i]);
    }
    ~FaultGuard() {
        for (int i = 0; i < COUNT; ++i) sigaction(SIGNALS[i], &before_[i], nullptr);
    }

private:
    static constexpr int COUNT = 4;
    static constexpr int SIGNALS[COUNT] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};

    static pthread_t& launcher() {
        static pthread_t thread;
        return thread;
    }
    static uint64_t program_counter(void* context) {
#if defined(__x86_64__)
        return static_cast<uint64_t>(static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP]);
#elif defined(__aarch64__)
        return static_cast<ucontext_t*>(context)->uc_mcontext.pc;
#else
        (void)context;
        return 0;
#endif
    }
    static void handle(int signal, siginfo_t*, void* context) {
#ifdef SIMT_THREADS
        const bool ours = scheduler && scheduler->current;
#else
        const bool ours = scheduler && scheduler->current && pthread_equal(pthread_self(), launcher());
#endif
        if (!ours) {
            struct sigaction plain = {};
            plain.sa_handler = SIG_DFL;
            sigaction(signal, &plain, nullptr);
            return;  // the instruction faults again, now for good
        }
        std::string what = signal == SIGFPE ? "integer division by zero or overflow" : "illegal instruction or trap";
        if (signal == SIGSEGV || signal == SIGBUS) {
            what = "access to memory that does not exist";
        }
        scheduler->fail(what + at_code(program_counter(context)) + ", " + who(*scheduler->current));
    }

    struct sigaction before_[COUNT];
};

#else
struct FaultGuard {};
#endif

}  // namespace simt
