// What a mutex guards, in a form that Clang checks (-Wthread-safety). Other compilers see nothing.
#pragma once

#if defined(__clang__)
#define HOLDFAST_THREAD_ATTRIBUTE(x) __attribute__((x))
#else
#define HOLDFAST_THREAD_ATTRIBUTE(x)
#endif

/// On a class: it can be held, as a mutex is. The text stands in Clang's messages.
#define HOLDFAST_CAPABILITY(text) HOLDFAST_THREAD_ATTRIBUTE(capability(text))
/// On a class: it holds something from its constructor to its destructor.
#define HOLDFAST_SCOPED_CAPABILITY HOLDFAST_THREAD_ATTRIBUTE(scoped_lockable)

/// On a member: read and written only by those who hold the mutex.
#define HOLDFAST_GUARDED_BY(mutex) HOLDFAST_THREAD_ATTRIBUTE(guarded_by(mutex))
/// On a pointer: what it points to is guarded, the pointer itself is not.
#define HOLDFAST_PT_GUARDED_BY(mutex) HOLDFAST_THREAD_ATTRIBUTE(pt_guarded_by(mutex))
/// On a mutex: locked while those others are held, never the other way round.
#define HOLDFAST_ACQUIRED_AFTER(...) HOLDFAST_THREAD_ATTRIBUTE(acquired_after(__VA_ARGS__))

/// On a function: the caller holds the mutex, and still holds it afterwards.
#define HOLDFAST_REQUIRES(...) HOLDFAST_THREAD_ATTRIBUTE(requires_capability(__VA_ARGS__))
/// On a function: the caller does not hold the mutex; the function locks it itself.
#define HOLDFAST_EXCLUDES(...) HOLDFAST_THREAD_ATTRIBUTE(locks_excluded(__VA_ARGS__))
/// On a function: it returns with the mutex held.
#define HOLDFAST_ACQUIRE(...) HOLDFAST_THREAD_ATTRIBUTE(acquire_capability(__VA_ARGS__))
/// On a function: the caller holds the mutex, and does not hold it afterwards.
#define HOLDFAST_RELEASE(...) HOLDFAST_THREAD_ATTRIBUTE(release_capability(__VA_ARGS__))
/// On a function: the mutex is held if it returned the first argument.
#define HOLDFAST_TRY_ACQUIRE(...) HOLDFAST_THREAD_ATTRIBUTE(try_acquire_capability(__VA_ARGS__))
/// On a function: Clang is to believe from here on that the mutex is held.
#define HOLDFAST_ASSERT_CAPABILITY(...) HOLDFAST_THREAD_ATTRIBUTE(assert_capability(__VA_ARGS__))
/// On a function that returns a reference to the mutex.
#define HOLDFAST_RETURN_CAPABILITY(mutex) HOLDFAST_THREAD_ATTRIBUTE(lock_returned(mutex))

/// On a function whose locking cannot be followed, such as one that locks here and unlocks in
/// another function. A comment beside it says why it is right.
#define HOLDFAST_NO_THREAD_SAFETY_ANALYSIS HOLDFAST_THREAD_ATTRIBUTE(no_thread_safety_analysis)
