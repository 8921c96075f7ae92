// Tells the thread sanitizer of the slow paths of Swift's Mutex.
//
// The fast paths are inlined into our code, which is instrumented. A contended mutex is locked and
// unlocked inside of libswiftSynchronization, which is not: the sanitizer would miss the order it
// makes and call everything a mutex guards a race. Preloaded by `make sanitize`.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>

#define SWIFT_CALL __attribute__((swiftcall))
#define SELF __attribute__((swift_context))

extern void __tsan_acquire(void *address) __attribute__((weak));
extern void __tsan_release(void *address) __attribute__((weak));

#define LOCK_SLOW "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define TRY_LOCK_SLOW "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF"
#define UNLOCK_SLOW "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

typedef SWIFT_CALL void (*LockSlow)(uint32_t thread, SELF void *self);
typedef SWIFT_CALL bool (*TryLockSlow)(SELF void *self);
typedef SWIFT_CALL void (*UnlockSlow)(SELF void *self);

SWIFT_CALL void lockSlow(uint32_t thread, SELF void *self) __asm__(LOCK_SLOW);
SWIFT_CALL bool tryLockSlow(SELF void *self) __asm__(TRY_LOCK_SLOW);
SWIFT_CALL void unlockSlow(SELF void *self) __asm__(UNLOCK_SLOW);

SWIFT_CALL void lockSlow(uint32_t thread, SELF void *self) {
  ((LockSlow)dlsym(RTLD_NEXT, LOCK_SLOW))(thread, self);
  if (__tsan_acquire) __tsan_acquire(self);
}

SWIFT_CALL bool tryLockSlow(SELF void *self) {
  bool isLocked = ((TryLockSlow)dlsym(RTLD_NEXT, TRY_LOCK_SLOW))(self);
  if (isLocked && __tsan_acquire) __tsan_acquire(self);
  return isLocked;
}

SWIFT_CALL void unlockSlow(SELF void *self) {
  if (__tsan_release) __tsan_release(self);
  ((UnlockSlow)dlsym(RTLD_NEXT, UNLOCK_SLOW))(self);
}
