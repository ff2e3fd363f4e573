// The scheduler's functions: running a launch, picking the next thread, taking turns between blocks.
#pragma once

#include <sched.h>

#include "reports.h"
#include "scheduler.h"
#include "warp.h"
#include "view.h"

namespace simt {

inline void Scheduler::run(Common& common, uint32_t resident, uint64_t seed) {
    common_ = &common;
    const Launch& launch = *common.launch;
    random_ = Random(seed * 0x2545f4914f6cdd1dull + 1);
    shuffled_ = seed != 0;
    preempt_every_ = shuffled_ ? uint64_t{2} << random_.below(6) : 0;
    turn_every_ = uint64_t{8} << 2 * random_.below(3);
    fresh_share_ = random_.below(2) ? 4 : 7;
    delayed_share_ = random_.below(5);
    resident_ = shuffled_ ? std::min<uint32_t>(resident, 1 + static_cast<uint32_t>(random_.below(8))) : resident;
    if (launch.resident >= common.blocks) resident_ = resident;
    reset_countdown();
    if (shared.locate(view_ranges())) pool_.reset();  // compilers keep addresses of thread-local variables in a fiber
    set_shapes(launch);
    prepare_blocks(launch);
    active_ = nullptr;
    current = nullptr;
    turn_ = 0;
    exhausted_ = false;
    shared_dirty_ = true;
    note_progress();

    Thread* first = pick();
    if (first) {
        Fiber* fiber = pool_.acquire();
        first->fiber = fiber;
        activate(first);
        switch_fiber(host_, *fiber, host_);
    }
    current = nullptr;
    if (!common.failed) return;
    pool_.reset();
    shape_[0] = 0;  // the blocks are in no state to serve again
}

// Blocks of the last launch serve again if they have the right shape.
inline void Scheduler::prepare_blocks(const Launch& launch) {
    under_way_.clear();
    spare_.clear();
    if (memcmp(shape_, launch.block, sizeof shape_) != 0 || dynamic_bytes_ != launch.shared_bytes) {
        for (auto& block : store_) free(block->dynamic_shared);
        store_.clear();
        memcpy(shape_, launch.block, sizeof shape_);
        dynamic_bytes_ = launch.shared_bytes;
    }
    for (auto& block : store_) spare_.push_back(block.get());
}

inline void Scheduler::fiber_main() {
    arrived(*scheduler->current->fiber, scheduler->host_);
    scheduler->fiber_loop();
}

// What every fiber does for ever: run the current thread, then find the next.
inline void Scheduler::fiber_loop() {
    Fiber* self = current->fiber;
    for (;;) {
        common_->launch->kernel->invoke(common_->launch->arguments);
        thread_ended(current);
        Thread* next = pick();
        if (next && picked_fresh_) {
            next->fiber = self;
            activate(next);
            continue;
        }
        if (self->overflowed()) fail("a thread used more than 64 KiB of stack");
        pool_.release(self);
        if (next) activate(next);
        switch_fiber(*self, next ? *next->fiber : host_, host_);
    }
}

inline void Scheduler::activate(Thread* thread) {
    current = thread;
    thread->state = State::RUNNING;
    set_thread_index(thread->index);
}

inline void Scheduler::thread_ended(Thread* thread) {
    ++simt_progress;
    thread->state = State::ENDED;
    thread->sleeps = false;
    Block* block = thread->block;
    --block->live;
    thread->warp->ended |= 1u << thread->lane;
#ifdef SIMT_COUNTERS
    if (thread->warp->ended == ~0u) thread->warp->window.meet(~0u, true);
#endif
    if (thread->warp->waiting) complete_waiting(*thread->warp);
    if (block->at_barrier && block->at_barrier == block->live) complete_barrier(*block);
}

inline void Scheduler::park(State state) {
    Thread* self = current;
    self->state = state;
    if (state == State::IN_WARP || state == State::AT_BARRIER) self->sleeps = false;
    Thread* next = pick();
    if (!next) fail("internal error: a waiting thread was forgotten");
    if (next == self) {
        activate(self);
        return;
    }
    if (picked_fresh_) next->fiber = pool_.acquire();
    Fiber* target = next->fiber;
    activate(next);
    switch_fiber(*self->fiber, *target, host_);
}

inline void Scheduler::sleep(Place place) {
    current->place = place;
    current->sleeps = true;
    if (simt_progress != progress_seen_) note_progress();
    else if (++idle_sleeps_ % IDLE_ROUNDS == 0) check_idle();
#ifdef SIMT_THREADS
    else sched_yield();  // to another worker, or another process, whose word is waited for
#endif
    current->block->asleep.push_back(current);
    park(State::ASLEEP);
}

inline void Scheduler::reset_countdown() {
    simt_atomics_left = preempt_every_ ? static_cast<int64_t>(random_.below(2 * preempt_every_)) : STEPS_BEFORE_YIELD;
}

// The running thread gives way for a while, at an access or an atomic.
inline void Scheduler::preempt(bool polls) {
    reset_countdown();
    if (simt_progress != progress_seen_) note_progress();
    else if (polls && ++idle_polls_ > IDLE_POLLS) check_idle();
    if (!shuffled_ || random_.below(8) < delayed_share_) {
        current->block->asleep.push_back(current);
        park(State::ASLEEP);
    } else {
        current->block->ready.push(current);
        park(State::READY);
    }
}

// Choose the next thread and make its block the active one; nullptr when the grid has ended.
inline Thread* Scheduler::pick() {
    picked_fresh_ = false;
    for (;;) {
        Block* block = active_;
        if (common_->failed.load(std::memory_order_relaxed)) {
            if (!current) return nullptr;  // another worker failed before this one began
            fail("");
        }
        if (block && shuffled_ && block->live && random_.below(turn_every_) == 0) {
            if (!block->asleep.empty()) wake(block);
            if (random_.below(2)) block = nullptr;
        }
        if (block) {
            const bool ready = !block->ready.empty();
            if (block->fresh() && !(ready && (!shuffled_ || random_.below(8) >= fresh_share_))) {
                picked_fresh_ = true;
                return block->take_fresh();
            }
            if (ready) return shuffled_ ? block->ready.pop_any(random_) : block->ready.pop();
            if (block->live == 0) {
                close_block(block);
            } else if (block->asleep.empty()) {
                fail_deadlock(*block);
            }
        }
        Block* next = next_block();
        if (!next) return nullptr;
        if (next != active_) switch_block(next);
    }
}

// The block whose turn it is: a new one if more may be under way, else the next in the round.
inline Block* Scheduler::next_block() {
    if (!exhausted_ && under_way_.size() < resident_) {
        if (Block* opened = open_block()) return opened;
    }
    if (under_way_.empty()) return nullptr;
    turn_ = shuffled_ ? random_.below(under_way_.size()) : (turn_ + 1) % under_way_.size();
    Block* block = under_way_[turn_];
    if (block->ready.empty() && !block->fresh()) {
        wake(block);
    }
    return block;
}

inline Block* Scheduler::open_block() {
    const uint64_t at = common_->next_block.fetch_add(1, std::memory_order_relaxed);
    if (at >= common_->blocks) {
        exhausted_ = true;
        return nullptr;
    }
    if (spare_.empty()) {
        store_.push_back(std::make_unique<Block>());
        Block* made = store_.back().get();
        made->shape(common_->launch->block);
        made->dynamic_shared = static_cast<char*>(malloc(std::max<std::size_t>(dynamic_bytes_, 1)));
        spare_.push_back(made);
    }
    Block* block = spare_.back();
    spare_.pop_back();
    const uint64_t number = common_->block_order.empty() ? at : common_->block_order[at];
    block->begin(number, common_->launch->grid, random_, shuffled_);
    memset(block->dynamic_shared, SHARED_POISON, dynamic_bytes_);
    block->static_shared.clear();
    under_way_.push_back(block);
    turn_ = under_way_.size() - 1;
    return block;
}

inline void Scheduler::close_block(Block* block) {
    shared_dirty_ |= block->communicated;
    under_way_.erase(std::find(under_way_.begin(), under_way_.end(), block));
    spare_.push_back(block);
    active_ = nullptr;
}

inline void Scheduler::switch_block(Block* to) {
    if (active_ && shared.bytes()) {
        shared.save(active_->static_shared);
        shared_dirty_ = true;
    }
    if (to->begun && shared.bytes()) {
        shared.restore(to->static_shared);
        shared_dirty_ = true;
    } else if (!to->begun && shared_dirty_) {
        shared.poison();
        shared_dirty_ = false;
    }
    active_ = to;
    set_block_index(to->index);
}

inline void Scheduler::wake(Block* block) {
    for (Thread* thread : block->asleep) make_ready(thread);
    block->asleep.clear();
}

inline void Scheduler::note_progress() {
    progress_seen_ = simt_progress;
    idle_sleeps_ = idle_polls_ = 0;
    idle_since_ = std::chrono::steady_clock::now();
}

// Called now and then while nothing changes: ends a launch whose threads wait for something that never comes.
inline void Scheduler::check_idle() {
    uint64_t sleepers = 1;
    for (const Block* block : under_way_) {
        for (const Thread& thread : block->threads) sleepers += thread.state != State::ENDED && thread.sleeps;
    }
    if (idle_sleeps_ < IDLE_ROUNDS * sleepers && idle_polls_ <= IDLE_POLLS) return;
    if (common_->launch->workers > 1) {  // what they wait for may be another worker's to do
        const std::chrono::duration<double> idle = std::chrono::steady_clock::now() - idle_since_;
        idle_sleeps_ = idle_polls_ = 0;
        if (idle.count() < IDLE_SECONDS) return;
    }
    fail_spinning();
}

// Give the launch up: the host resumes, all fibers are abandoned where they stand.
inline void Scheduler::fail(const std::string& what) {
    static std::atomic_flag first = ATOMIC_FLAG_INIT;
    while (first.test_and_set()) {
    }
    if (!common_->failed.exchange(true)) common_->error = what;
    first.clear();
    Fiber abandoned;
    abandoned.stack = current && current->fiber ? current->fiber->stack : nullptr;
    switch_fiber(abandoned, host_, host_);
    abort();
}

}  // namespace simt
