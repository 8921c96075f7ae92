// The system calls and processor facts that Swift cannot reach on its own.
//
// Everything here is small, static inline where it is hot, and has one Swift caller.
#ifndef CAMBIUM_CPLATFORM_H
#define CAMBIUM_CPLATFORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>

#include "ColumnKernels.h"
#include "GatherKernels.h"
#include "TextKernels.h"

// MARK: Threads

/// The calling thread's control block. Volatile: a pure function would be folded across `await`,
/// where the thread can change.
static inline uintptr_t cambium_thread_pointer(void) {
  uintptr_t value;
#if defined(__x86_64__) && defined(__linux__)
  __asm__ volatile("mov %%fs:0, %0" : "=r"(value));
#elif defined(__x86_64__)
  __asm__ volatile("mov %%gs:0, %0" : "=r"(value));
#elif defined(__aarch64__) && defined(__APPLE__)
  __asm__ volatile("mrs %0, tpidrro_el0" : "=r"(value));
#elif defined(__aarch64__)
  __asm__ volatile("mrs %0, tpidr_el0" : "=r"(value));
#else
#error "Cambium supports x86-64 and arm64."
#endif
  return value;
}

/// A number that no other thread of this process ever had or will have; handles are reused, it is
/// not.
uint64_t cambium_thread_token(void);

/// Whether the calling thread is the process's first.
bool cambium_is_main_thread(void);

/// Where the label of the dispatch queue lies whose block the caller runs; 0 where the address does not
/// tell one living queue from all others.
static inline uintptr_t cambium_queue_label(void) {
#if defined(__linux__)
  // Each queue has a copy of its label. Queues without one share an empty text.
  extern const char *cambium_dispatch_label(void *queue) __asm__("dispatch_queue_get_label");
  const char *label = cambium_dispatch_label(NULL);
  return label && *label ? (uintptr_t)label : 0;
#else
  return 0;
#endif
}

/// Runs `body(context)` on a new thread that nobody waits for; 0 or an `errno`.
int cambium_start_thread(void (*body)(void *context), void *context);

/// Nanoseconds since some moment, by a clock that nobody sets (`CLOCK_MONOTONIC`).
int64_t cambium_monotonic_nanoseconds(void);

/// Whether the running task is isolated to the executor whose two words are given; false outside of
/// tasks.
bool cambium_is_current_executor(uintptr_t identity, uintptr_t implementation);

/// On how many processors this thread may run.
int cambium_processor_count(void);

// MARK: Memory

/// `memmem` of the C library, which needs a feature macro that Swift's importer does not set.
const void *cambium_memmem(const void *haystack, size_t haystack_count, const void *needle,
                           size_t needle_count);

/// Memory of `byte_count` bytes, in large pages of the system where it is large and the system has such;
/// null when there is none.
void *cambium_allocate_large(size_t byte_count);

/// Gives back what `cambium_allocate_large` gave.
void cambium_deallocate_large(void *memory);

/// Hints that the line at `address` will be read soon.
static inline void cambium_prefetch(const void *address) { __builtin_prefetch(address, 0, 3); }

/// Lets the other thread of a processor go ahead while this one looks again and again.
static inline void cambium_relax(void) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  __asm__ volatile("yield");
#endif
}

// MARK: Files

/// What the system says an `errno` means, into `text`; the C library's own functions for it are
/// either not thread-safe or not the same everywhere.
void cambium_describe_error(int code, char *text, size_t byte_count);

/// Starts to write the dirty pages of a range to the medium, without waiting.
void cambium_start_writing(int descriptor, int64_t offset, int64_t length);

/// Gives a file another name in the same folder, and never takes the place of something: 0 or an `errno` (`EEXIST`:
/// the name is taken).
int cambium_move_to_new_name(const char *path, const char *name);

/// The same where files cannot have two names, as on FAT.
int cambium_rename_to_new_name(const char *path, const char *name);

/// An open-file-description lock on one byte range; `kind` is 0 unlock, 1 shared, 2 exclusive.
/// Never waits unless `wait`. 0 or an `errno` (`EAGAIN`: somebody else holds it).
int cambium_file_lock(int descriptor, int64_t offset, int64_t length, int kind, bool wait);

/// How somebody else's open description has locked one byte: 0 not at all, 1 shared, 2 exclusively;
/// negative for an `errno`.
int cambium_file_lock_of_others(int descriptor, int64_t offset);

/// How many forks lie between the start of the program and this process. A store that was opened at
/// another count belongs to the parent.
uint32_t cambium_fork_count(void);

/// Closes `descriptor` in every child that is forked from now on, because locks of an open file
/// description last until all its descriptors are closed. False when there is no room to remember it.
bool cambium_close_in_children(int descriptor);

/// Ends what `cambium_close_in_children` began; called before the descriptor is closed.
void cambium_keep_in_children(int descriptor);

/// Sleeps while `*word == expected`, at most `timeout_nanoseconds` (negative: for ever). 0 when
/// woken, otherwise an `errno`. Works between processes if all who use the word say `is_shared`; within
/// one it costs less without.
int cambium_futex_wait(const uint32_t *word, uint32_t expected, int64_t timeout_nanoseconds,
                       bool is_shared);

/// Wakes every waiter of `word`, in all processes if it `is_shared`.
void cambium_futex_wake(const uint32_t *word, bool is_shared);

/// A word to wait on, and what it was when it was looked at.
typedef struct {
  const uint32_t *word;
  uint32_t expected;
  bool is_shared;
} cambium_futex_expectation;

/// How many words can be waited on at a time.
#define CAMBIUM_FUTEX_LIMIT 128

/// Waits until one of the words is woken or differs from what is expected, or until the time is over;
/// negative for no end. False where the system cannot do that (Linux before 5.16, other systems, more than
/// `CAMBIUM_FUTEX_LIMIT` words), and then it has not waited.
bool cambium_futex_wait_any(const cambium_futex_expectation *words, int count,
                            int64_t timeout_nanoseconds);

/// Gives an open file the rights of the one at `path`, and its owner where that is allowed; nothing where there is
/// no file.
void cambium_share_rights(const char *path, int descriptor);

/// The boot this system runs in, 16 bytes; two boots never share one. 0, or the error's number.
int cambium_boot_identity(uint8_t identity[16]);

// MARK: Secrets

/// Memory of its own pages for a key: left out of core dumps and of children that are forked, and
/// kept from being swapped where the system allows that. NULL when there is none left.
void *cambium_secret_allocate(size_t byte_count);

/// Wipes that memory and gives it back.
void cambium_secret_free(void *memory, size_t byte_count);

/// Zeroed memory that is left out of core dumps, for what a cipher has opened; 64-byte aligned. Ends the
/// program when there is none left.
void *cambium_undumped_allocate(size_t byte_count);

/// Wipes that memory and gives it back; `byte_count` is what was asked for.
void cambium_undumped_free(void *memory, size_t byte_count);

/// Fills with zeros, whatever the compiler thinks of it.
void cambium_wipe(void *memory, size_t byte_count);

// MARK: Objects

// Entry points of the Swift runtime, whose binary interface is stable.
extern void *swift_allocObject(const void *metadata, size_t byte_count, size_t alignment_mask);
extern void *swift_tryRetain(void *object);

/// A new instance of the class with `metadata`: what follows its 16-byte header is not initialised.
static inline void *cambium_allocate_object(const void *metadata, size_t byte_count) {
  return swift_allocObject(metadata, byte_count, 7);
}

/// How many bytes an instance of the class with `metadata` has.
size_t cambium_instance_size(const void *metadata);

/// Retains `object`, whose memory must be valid; null when it is being deinitialised.
static inline void *cambium_try_retain(void *object) { return swift_tryRetain(object); }

// MARK: Type metadata

/// Calls `visit` with every nominal type descriptor of every loaded image.
void cambium_for_each_type_descriptor(void (*visit)(const void *descriptor, void *context),
                                      void *context);

/// How many of them there are, which rises when a library is loaded that has some.
size_t cambium_type_descriptor_count(void);

/// The context descriptor of the class whose metadata is given, or null.
const void *cambium_type_descriptor(const void *metadata);

/// The metadata that a class descriptor's access function returns.
const void *cambium_call_metadata_accessor(const void *function);

#endif
