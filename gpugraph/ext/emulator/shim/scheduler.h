// Who runs next.
//
// A thread runs until it waits for others, sleeps, or ends; then `pick` chooses: threads of the same block that are
// ready, then those not yet started, then another block.  A fiber whose thread has ended takes the next fresh thread on
// the same stack, so a kernel without collectives never switches.  When all a block has left is sleepers, the next
// block starts (up to `resident` at once) or gets its turn; sleepers wake when their block's turn comes round again.
// With a seed, the choice is random at every step and atomics pre-empt; the rates are drawn anew for each launch, so
// that some schedules switch all the time and others leave a thread behind for long.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <string>

#include "block.h"
#include "fiber.h"
#include "shared_memory.h"

namespace simt {

constexpr uint64_t IDLE_ROUNDS = 5000;       // turns of every sleeper without progress that count as endless
constexpr uint64_t IDLE_POLLS = 1 << 20;     // pre-emptions at atomics that change nothing
constexpr double IDLE_SECONDS = 20;          // how long workers wait for each other
constexpr int64_t STEPS_BEFORE_YIELD = 4096;  // atomics in a row after which others get a turn, in case it spins

// What the workers of one launch share.
struct Common {
    const Launch* launch = nullptr;
    uint64_t blocks = 0;
    std::atomic<uint64_t> next_block{0};
    std::vector<uint64_t> block_order;  // empty: by number
    std::atomic<bool> failed{false};
    std::string error;
};

class Scheduler {
public:
    Scheduler() : pool_(&Scheduler::fiber_main) {}

    void run(Common& common, uint32_t resident, uint64_t seed);
    void park(State state);   // the running thread waits; returns when it is resumed
    void sleep(Place place);
    void preempt(bool polls);
    void make_ready(Thread* thread) {
        thread->state = State::READY;
        thread->block->ready.push(thread);
    }
    [[noreturn]] void fail(const std::string& what);
    [[noreturn]] void fail_deadlock(const Block& block);

    Thread* current = nullptr;
    SharedRange shared;
    Random& random() { return random_; }

private:
    void prepare_blocks(const Launch& launch);
    static void fiber_main();
    void fiber_loop();
    Thread* pick();
    Block* next_block();
    Block* open_block();
    void close_block(Block* block);
    void wake(Block* block);
    void switch_block(Block* to);
    void activate(Thread* thread);
    void thread_ended(Thread* thread);
    void note_progress();
    void check_idle();
    void reset_countdown();
    [[noreturn]] void fail_spinning();

    FiberPool pool_;
    Fiber host_;
    Random random_{0};
    Common* common_ = nullptr;
    bool shuffled_ = false;
    uint64_t preempt_every_ = 0;  // atomics, on average
    uint64_t turn_every_ = 8;     // picks between turns of blocks and wakings, on average
    uint64_t fresh_share_ = 4;    // of eight picks, how many start a thread though others are ready
    uint64_t delayed_share_ = 0;  // of eight pre-empted threads, how many sleep
    uint32_t resident_ = 1;

    std::vector<std::unique_ptr<Block>> store_;
    std::vector<Block*> spare_, under_way_;
    std::size_t turn_ = 0;       // of `active_` in under_way_
    Block* active_ = nullptr;
    bool exhausted_ = false;     // all blocks of the grid have started
    bool picked_fresh_ = false;
    bool shared_dirty_ = true;
    uint32_t shape_[3] = {};
    std::size_t dynamic_bytes_ = 0;
    uint64_t progress_seen_ = 0, idle_sleeps_ = 0, idle_polls_ = 0;
    std::chrono::steady_clock::time_point idle_since_;
};

extern SIMT_PER_WORKER Scheduler* scheduler;

}  // namespace simt
