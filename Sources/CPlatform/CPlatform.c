#define _GNU_SOURCE
#include "CPlatform.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined(__linux__)
#include <linux/futex.h>
#include <sys/syscall.h>
#endif

// MARK: Threads

uint64_t cambium_thread_token(void) {
  static _Atomic uint64_t next = 1;
  static _Thread_local uint64_t token = 0;
  if (token == 0) token = atomic_fetch_add(&next, 1);
  return token;
}

bool cambium_is_main_thread(void) {
  static _Thread_local enum { unknown, yes, no } answer = unknown;
  if (answer == unknown) {
#if defined(__linux__)
    answer = syscall(SYS_gettid) == getpid() ? yes : no;
#else
    answer = pthread_main_np() ? yes : no;
#endif
  }
  return answer == yes;
}

int cambium_processor_count(void) {
#if defined(__linux__)
  cpu_set_t processors;
  if (sched_getaffinity(0, sizeof processors, &processors) == 0) return CPU_COUNT(&processors);
#endif
  return (int)sysconf(_SC_NPROCESSORS_ONLN);
}

struct thread_start {
  void (*body)(void *);
  void *context;
};

static void *run_thread(void *raw) {
  struct thread_start start = *(struct thread_start *)raw;
  free(raw);
  start.body(start.context);
  return NULL;
}

int cambium_start_thread(void (*body)(void *context), void *context) {
  struct thread_start *start = malloc(sizeof *start);
  if (start == NULL) return ENOMEM;
  *start = (struct thread_start){body, context};
  // Detached from the start. Detaching it afterwards looks at its memory once more (glibc 2.36), which
  // is gone when it has ended meanwhile.
  pthread_attr_t attributes;
  int result = pthread_attr_init(&attributes);
  if (result == 0) {
    pthread_t thread;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    result = pthread_create(&thread, &attributes, run_thread, start);
    pthread_attr_destroy(&attributes);
  }
  if (result != 0) free(start);
  return result;
}

int64_t cambium_monotonic_nanoseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

typedef struct {
  uintptr_t identity;
  uintptr_t implementation;
} executor_reference;

__attribute__((swiftcall)) extern bool swift_task_isCurrentExecutorWithFlags(
    executor_reference executor, uintptr_t flags);

bool cambium_is_current_executor(uintptr_t identity, uintptr_t implementation) {
  executor_reference executor = {identity, implementation};
  return swift_task_isCurrentExecutorWithFlags(executor, 0);
}

// MARK: Errors

// The two forms that C libraries give `strerror_r`, told apart by what it returns.
static const char *message_xsi(int result, const char *text) { return result == 0 ? text : "?"; }
static const char *message_gnu(const char *result, const char *text) {
  (void)text;
  return result;
}

void cambium_describe_error(int code, char *text, size_t byte_count) {
  char buffer[256] = "";
  const char *message = _Generic(strerror_r(code, buffer, sizeof buffer),
      int: message_xsi,
      char *: message_gnu)(strerror_r(code, buffer, sizeof buffer), buffer);
  snprintf(text, byte_count, "%s", message);
}

// MARK: Memory

const void *cambium_memmem(const void *haystack, size_t haystack_count, const void *needle,
                           size_t needle_count) {
  return memmem(haystack, haystack_count, needle, needle_count);
}

enum { large_page_byte_count = 2 << 20 };

void *cambium_allocate_large(size_t byte_count) {
  if (byte_count < 2 * large_page_byte_count) return malloc(byte_count);
  void *memory;
  if (posix_memalign(&memory, large_page_byte_count, byte_count) != 0) return NULL;
#if defined(__linux__)
  madvise(memory, byte_count, MADV_HUGEPAGE);
#endif
  return memory;
}

void cambium_deallocate_large(void *memory) { free(memory); }

// MARK: Files

void cambium_start_writing(int descriptor, int64_t offset, int64_t length) {
#if defined(__linux__)
  // A hint: what it cannot do, the sync does, which also reports any error.
  (void)sync_file_range(descriptor, offset, length, SYNC_FILE_RANGE_WRITE);
#else
  (void)descriptor, (void)offset, (void)length;
#endif
}

// Whether an operation is one that the medium or the system does not have.
static bool is_missing(int code) {
  return code == EPERM || code == EMLINK || code == EINVAL || code == ENOSYS || code == ENOTSUP ||
         code == EOPNOTSUPP;
}

int cambium_move_to_new_name(const char *path, const char *name) {
  if (link(path, name) == 0) {
    unlink(path);
    return 0;
  }
  return is_missing(errno) ? cambium_rename_to_new_name(path, name) : errno;
}

int cambium_rename_to_new_name(const char *path, const char *name) {
#if defined(__linux__)
  // Not every C library has the function, and its name for the flag.
  const unsigned no_replace = 1;
  long result = syscall(SYS_renameat2, AT_FDCWD, path, AT_FDCWD, name, no_replace);
#else
  int result = renamex_np(path, name, RENAME_EXCL);
#endif
  if (result == 0) return 0;
  if (!is_missing(errno)) return errno;
  // Where it cannot be done in one step, the name is taken first.
  int taken = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (taken < 0) return errno;
  close(taken);
  if (rename(path, name) == 0) return 0;
  int code = errno;
  unlink(name);
  return code;
}

int cambium_file_lock(int descriptor, int64_t offset, int64_t length, int kind, bool wait) {
  struct flock lock = {0};
  lock.l_type = kind == 0 ? F_UNLCK : kind == 1 ? F_RDLCK : F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = offset;
  lock.l_len = length;
  int result;
  do {
#if defined(F_OFD_SETLK)
    result = fcntl(descriptor, wait ? F_OFD_SETLKW : F_OFD_SETLK, &lock);
#else
    result = fcntl(descriptor, wait ? F_SETLKW : F_SETLK, &lock);
#endif
  } while (result != 0 && errno == EINTR);
  if (result == 0) return 0;
  return errno == EACCES ? EAGAIN : errno;
}

int cambium_file_lock_of_others(int descriptor, int64_t offset) {
  struct flock lock = {0};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = offset;
  lock.l_len = 1;
#if defined(F_OFD_GETLK)
  int result = fcntl(descriptor, F_OFD_GETLK, &lock);
#else
  int result = fcntl(descriptor, F_GETLK, &lock);
#endif
  if (result != 0) return -errno;
  return lock.l_type == F_UNLCK ? 0 : lock.l_type == F_RDLCK ? 1 : 2;
}

// MARK: Forks

enum { descriptor_capacity = 4096 };
/// Descriptor plus one; zero for a free place.
static _Atomic int descriptors[descriptor_capacity];
static _Atomic uint32_t fork_count;

/// Held while a process forks, so that no other thread leaves it locked in the child for ever.
static pthread_mutex_t chunk_lock = PTHREAD_MUTEX_INITIALIZER;

static void before_fork(void) { pthread_mutex_lock(&chunk_lock); }

static void after_fork_in_parent(void) { pthread_mutex_unlock(&chunk_lock); }

/// Runs in the child, where only calls that are safe in signal handlers may be made.
static void after_fork(void) {
  pthread_mutex_unlock(&chunk_lock);
  atomic_fetch_add(&fork_count, 1);
  for (int i = 0; i < descriptor_capacity; i++) {
    int descriptor = atomic_exchange(&descriptors[i], 0);
    if (descriptor > 0) close(descriptor - 1);
  }
}

/// Runs when the program is loaded: whoever asks for the count has to know of every fork since.
__attribute__((constructor)) static void watch_forks(void) {
  pthread_atfork(before_fork, after_fork_in_parent, after_fork);
}

uint32_t cambium_fork_count(void) {
  return atomic_load_explicit(&fork_count, memory_order_relaxed);
}

bool cambium_close_in_children(int descriptor) {
  for (int i = 0; i < descriptor_capacity; i++) {
    int expected = 0;
    if (atomic_compare_exchange_strong(&descriptors[i], &expected, descriptor + 1)) return true;
  }
  return false;
}

void cambium_keep_in_children(int descriptor) {
  for (int i = 0; i < descriptor_capacity; i++) {
    int expected = descriptor + 1;
    if (atomic_compare_exchange_strong(&descriptors[i], &expected, 0)) return;
  }
}

// MARK: Waiting

int cambium_futex_wait(const uint32_t *word, uint32_t expected, int64_t timeout_nanoseconds,
                       bool is_shared) {
#if defined(__linux__)
  struct timespec timeout = {timeout_nanoseconds / 1000000000, timeout_nanoseconds % 1000000000};
  long result = syscall(SYS_futex, word, is_shared ? FUTEX_WAIT : FUTEX_WAIT_PRIVATE, expected,
                        timeout_nanoseconds < 0 ? NULL : &timeout, NULL, 0);
  return result == 0 ? 0 : errno;
#else
  (void)word;
  (void)expected;
  (void)is_shared;
  struct timespec pause = {0, 1000000};
  if (timeout_nanoseconds >= 0 && timeout_nanoseconds < pause.tv_nsec) {
    pause.tv_nsec = timeout_nanoseconds;
  }
  nanosleep(&pause, NULL);
  return 0;
#endif
}

bool cambium_futex_wait_any(const cambium_futex_expectation *words, int count,
                            int64_t timeout_nanoseconds) {
#if defined(__linux__)
  // The kernel's numbers and layout, which the headers of older systems lack.
  enum { number = 449, is_32_bit = 2, is_private = 128 };
  struct {
    uint64_t value, address;
    uint32_t flags, reserved;
  } waiters[CAMBIUM_FUTEX_LIMIT];
  if (count > CAMBIUM_FUTEX_LIMIT) return false;
  for (int i = 0; i < count; i++) {
    waiters[i].value = words[i].expected;
    waiters[i].address = (uintptr_t)words[i].word;
    waiters[i].flags = is_32_bit | (words[i].is_shared ? 0 : is_private);
    waiters[i].reserved = 0;
  }
  // The time is a moment here, not a duration.
  struct timespec end;
  if (timeout_nanoseconds >= 0) {
    clock_gettime(CLOCK_MONOTONIC, &end);
    int64_t rest = end.tv_nsec + timeout_nanoseconds % 1000000000;
    end.tv_sec += timeout_nanoseconds / 1000000000 + rest / 1000000000;
    end.tv_nsec = rest % 1000000000;
  }
  long result = syscall(number, waiters, (unsigned)count, 0,
                        timeout_nanoseconds < 0 ? NULL : &end, CLOCK_MONOTONIC);
  return result >= 0 || (errno != ENOSYS && errno != EINVAL && errno != EPERM);
#else
  (void)words;
  (void)count;
  (void)timeout_nanoseconds;
  return false;
#endif
}

void cambium_futex_wake(const uint32_t *word, bool is_shared) {
#if defined(__linux__)
  syscall(SYS_futex, word, is_shared ? FUTEX_WAKE : FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
#else
  (void)word;
  (void)is_shared;
#endif
}

void cambium_share_rights(const char *path, int descriptor) {
  struct stat wanted, found;
  if (stat(path, &wanted) != 0 || !S_ISREG(wanted.st_mode) || fstat(descriptor, &found) != 0) return;
  bool is_other = wanted.st_uid != found.st_uid || wanted.st_gid != found.st_gid;
  // Where the owner stays another one, the rights are those of fewer.
  int left = is_other && geteuid() == 0 ? fchown(descriptor, wanted.st_uid, wanted.st_gid) : 0;
  (void)left;
  if ((wanted.st_mode & 0777) != (found.st_mode & 0777)) fchmod(descriptor, wanted.st_mode & 0777);
}

int cambium_boot_identity(uint8_t identity[16]) {
#if defined(__linux__)
  FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
  if (file == NULL) return errno;
  char text[40] = {0};
  size_t count = fread(text, 1, 36, file);
  fclose(file);
  if (count != 36) return EIO;
  size_t out = 0;
  for (size_t i = 0; i + 1 < 36 && out < 16;) {
    if (text[i] == '-') {
      i += 1;
      continue;
    }
    unsigned value;
    if (sscanf(text + i, "%2x", &value) != 1) return EIO;
    identity[out++] = (uint8_t)value;
    i += 2;
  }
  return out == 16 ? 0 : EIO;
#else
  (void)identity;
  return ENOTSUP;
#endif
}

// MARK: Secrets

void cambium_wipe(void *memory, size_t byte_count) {
  memset(memory, 0, byte_count);
  // Says that the zeros are read, so that writing them is not left out.
  __asm__ __volatile__("" : : "r"(memory) : "memory");
}

static size_t secret_room(size_t byte_count) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  return (byte_count + page - 1) / page * page;
}

void *cambium_secret_allocate(size_t byte_count) {
  size_t room = secret_room(byte_count);
  void *memory = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return NULL;
#if defined(__linux__)
  madvise(memory, room, MADV_DONTDUMP);
  madvise(memory, room, MADV_WIPEONFORK);
#endif
  mlock(memory, room);
  return memory;
}

void cambium_secret_free(void *memory, size_t byte_count) {
  size_t room = secret_room(byte_count);
  cambium_wipe(memory, room);
  munlock(memory, room);
  munmap(memory, room);
}

// Pages come and go by the thousand, so they share mappings: chunks that begin at multiples of their
// size, each with blocks of one size.
enum { chunk_byte_count = 1 << 20, block_unit = 1 << 10, block_sizes = 64 };

struct chunk {
  struct chunk *next, *previous;
  /// Blocks that were given back; each begins with the address of the next.
  void *given_back;
  uint32_t block_byte_count, used, untouched;
};
enum { chunk_header_byte_count = 64 };
_Static_assert(sizeof(struct chunk) <= chunk_header_byte_count, "blocks are aligned");

/// Chunks with a free block, by the size of their blocks; guarded by `chunk_lock`.
static struct chunk *chunks[block_sizes + 1];

static void *map_undumped(size_t byte_count, size_t alignment) {
  size_t room = byte_count + (alignment > 1 ? alignment : 0);
  char *memory = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    fprintf(stderr, "Out of memory: %zu bytes were refused.\n", byte_count);
    abort();
  }
  if (alignment > 1) {
    size_t before = (alignment - (uintptr_t)memory % alignment) % alignment;
    if (before > 0) munmap(memory, before);
    if (alignment > before) munmap(memory + before + byte_count, alignment - before);
    memory += before;
  }
#if defined(__linux__)
  madvise(memory, byte_count, MADV_DONTDUMP);
#endif
  return memory;
}

static void link_chunk(struct chunk *chunk, struct chunk **list) {
  chunk->previous = NULL;
  chunk->next = *list;
  if (chunk->next != NULL) chunk->next->previous = chunk;
  *list = chunk;
}

static void unlink_chunk(struct chunk *chunk, struct chunk **list) {
  if (chunk->previous != NULL) {
    chunk->previous->next = chunk->next;
  } else {
    *list = chunk->next;
  }
  if (chunk->next != NULL) chunk->next->previous = chunk->previous;
}

static uint32_t block_count(const struct chunk *chunk) {
  return (chunk_byte_count - chunk_header_byte_count) / chunk->block_byte_count;
}

void *cambium_undumped_allocate(size_t byte_count) {
  size_t size = byte_count == 0 ? 1 : (byte_count + block_unit - 1) / block_unit;
  if (size > block_sizes) return map_undumped(secret_room(byte_count), 1);
  pthread_mutex_lock(&chunk_lock);
  struct chunk *chunk = chunks[size];
  if (chunk == NULL) {
    chunk = map_undumped(chunk_byte_count, chunk_byte_count);
    chunk->block_byte_count = (uint32_t)size * block_unit;
    chunk->untouched = block_count(chunk);
    link_chunk(chunk, &chunks[size]);
  }
  void *block = chunk->given_back;
  if (block != NULL) {
    chunk->given_back = *(void **)block;
    *(void **)block = NULL;
  } else {
    chunk->untouched -= 1;
    block = (char *)chunk + chunk_header_byte_count +
            (size_t)chunk->untouched * chunk->block_byte_count;
  }
  chunk->used += 1;
  if (chunk->used == block_count(chunk)) unlink_chunk(chunk, &chunks[size]);
  pthread_mutex_unlock(&chunk_lock);
  return block;
}

void cambium_undumped_free(void *memory, size_t byte_count) {
  size_t size = byte_count == 0 ? 1 : (byte_count + block_unit - 1) / block_unit;
  cambium_wipe(memory, byte_count);
  if (size > block_sizes) {
    munmap(memory, secret_room(byte_count));
    return;
  }
  struct chunk *chunk = (struct chunk *)((uintptr_t)memory & ~(uintptr_t)(chunk_byte_count - 1));
  pthread_mutex_lock(&chunk_lock);
  if (chunk->used == block_count(chunk)) link_chunk(chunk, &chunks[size]);
  *(void **)memory = chunk->given_back;
  chunk->given_back = memory;
  chunk->used -= 1;
  // One that is empty stays if it is the only one with room, so that no block costs a mapping.
  bool is_spare = chunk->used == 0 && (chunks[size] != chunk || chunk->next != NULL);
  if (is_spare) unlink_chunk(chunk, &chunks[size]);
  pthread_mutex_unlock(&chunk_lock);
  if (is_spare) munmap(chunk, chunk_byte_count);
}
