/* Makes the n-th call of a kind fail in the process that it is loaded into: fault injection for the tests beside it.
 *
 * Environment:
 *   FAULT_STATE    a file that every process of the run maps: counts of calls, and what was injected (struct state)
 *   FAULT_PROGRAM  the name of the program that is meant; in others every call passes
 *   FAULT_KIND     which calls, by a name of KINDS; without it calls are counted only
 *   FAULT_AT       the number of the call that fails, from 1
 *   FAULT_ERRNO    the error number; 0 makes reads and writes short instead
 *   FAULT_FOREVER  when set, all later calls of the kind fail, too
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum kind { READ, WRITE, MMAP, POLL, OPEN, DESCRIPTOR, FORK, THREAD, ALLOC, CHANGE, STAT, IOCTL, PERF_EVENT, WAIT, KINDS };

static const char *const names[KINDS] = { "read",  "write", "mmap",   "poll", "open",  "descriptor", "fork",
                                          "thread", "alloc", "change", "stat", "ioctl", "perf_event", "wait" };

/* Shared by all processes of a run, and read by the test. */
struct state {
    uint64_t counts[KINDS];
    uint64_t injected;
    char what[240]; /* the first injected call: its name, and the file that it was about */
};

static struct state *state;
static int chosen = -1, number, forever;
static uint64_t at;

static void __attribute__((constructor)) begin(void)
{
    const char *program = getenv("FAULT_PROGRAM"), *path = getenv("FAULT_STATE"), *kind = getenv("FAULT_KIND");
    if (!path || (program && strcmp(program, program_invocation_short_name)))
        return;
    int fd = syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC, 0);
    if (fd < 0)
        return;
    static void *(*map)(void *, size_t, int, int, int, off_t);
    *(void **)&map = dlsym(RTLD_NEXT, "mmap");
    void *mapped = map(NULL, sizeof(struct state), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    syscall(SYS_close, fd);
    if (mapped == MAP_FAILED)
        return;
    for (int each = 0; kind && each < KINDS; each++)
        if (!strcmp(names[each], kind))
            chosen = each;
    at = getenv("FAULT_AT") ? strtoull(getenv("FAULT_AT"), NULL, 10) : 0;
    number = getenv("FAULT_ERRNO") ? atoi(getenv("FAULT_ERRNO")) : EIO;
    forever = getenv("FAULT_FOREVER") != NULL;
    __atomic_store_n(&state, mapped, __ATOMIC_RELEASE);
}

/* Notes what is made to fail, by system calls alone. */
static void note(const char *call, const char *path, int fd)
{
    if (__atomic_fetch_add(&state->injected, 1, __ATOMIC_ACQ_REL))
        return;
    char link[64], target[160] = "";
    if (!path && fd >= 0) {
        snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
        long length = syscall(SYS_readlinkat, AT_FDCWD, link, target, sizeof target - 1);
        target[length > 0 ? length : 0] = 0;
    }
    snprintf(state->what, sizeof state->what, "%s %s", call, path ? path : target);
}

/* Counts a call; whether it is one that is to fail. */
static int due(enum kind kind)
{
    struct state *shared = __atomic_load_n(&state, __ATOMIC_ACQUIRE);
    if (!shared)
        return 0;
    uint64_t count = __atomic_add_fetch(&shared->counts[kind], 1, __ATOMIC_ACQ_REL);
    return (int)kind == chosen && (forever ? count >= at : count == at);
}

static int fails(enum kind kind, const char *call, const char *path, int fd)
{
    if (!due(kind) || number == 0)
        return 0;
    note(call, path, fd);
    errno = number;
    return 1;
}

/* The bytes that a transfer may move: all of them, or half of what can be cut; -1 when it fails. The kernel moves the small
 * words of its own descriptors whole. Messages on standard error always arrive, for the test to look at. */
static ssize_t allowed(enum kind kind, const char *call, int fd, size_t length)
{
    if (fd == STDERR_FILENO || !due(kind))
        return length;
    if (number) {
        note(call, NULL, fd);
        errno = number;
        return -1;
    }
    char link[64], target[16] = "";
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    syscall(SYS_readlinkat, AT_FDCWD, link, target, sizeof target - 1);
    if (length < 16 || !strncmp(target, "anon_inode:", 11))
        return length;
    note(call, NULL, fd);
    return length / 2;
}

#define REAL(name) \
    static __typeof__(name) *real; \
    if (!__atomic_load_n(&real, __ATOMIC_ACQUIRE)) \
        __atomic_store_n(&real, (__typeof__(name) *)dlsym(RTLD_NEXT, #name), __ATOMIC_RELEASE)

/* Reads and writes. */

#define TRANSFER(kind, name, ...) \
    REAL(name); \
    ssize_t length = allowed(kind, #name, fd, count); \
    return length < 0 ? -1 : real(fd, buffer, length, ##__VA_ARGS__)

ssize_t read(int fd, void *buffer, size_t count) { TRANSFER(READ, read); }
ssize_t pread64(int fd, void *buffer, size_t count, off64_t offset) { TRANSFER(READ, pread64, offset); }
ssize_t recv(int fd, void *buffer, size_t count, int flags) { TRANSFER(READ, recv, flags); }
ssize_t write(int fd, const void *buffer, size_t count) { TRANSFER(WRITE, write); }
ssize_t pwrite64(int fd, const void *buffer, size_t count, off64_t offset) { TRANSFER(WRITE, pwrite64, offset); }
ssize_t send(int fd, const void *buffer, size_t count, int flags) { TRANSFER(WRITE, send, flags); }

/* A short transfer of several pieces is one of the first. */
#define PIECES(kind, name) \
    REAL(name); \
    ssize_t length = allowed(kind, #name, fd, count ? pieces->iov_len : 0); \
    if (length < 0) \
        return -1; \
    if (count == 0 || (size_t)length == pieces->iov_len) \
        return real(fd, pieces, count); \
    struct iovec first = { pieces->iov_base, length }; \
    return real(fd, &first, 1)

ssize_t readv(int fd, const struct iovec *pieces, int count) { PIECES(READ, readv); }
ssize_t writev(int fd, const struct iovec *pieces, int count) { PIECES(WRITE, writev); }

ssize_t copy_file_range(int in, off64_t *from, int fd, off64_t *to, size_t count, unsigned flags)
{
    REAL(copy_file_range);
    ssize_t length = allowed(WRITE, "copy_file_range", fd, count);
    return length < 0 ? -1 : real(in, from, fd, to, length, flags);
}

ssize_t sendfile64(int fd, int in, off64_t *offset, size_t count)
{
    REAL(sendfile64);
    ssize_t length = allowed(WRITE, "sendfile64", fd, count);
    return length < 0 ? -1 : real(fd, in, offset, length);
}

struct dirent64 *readdir64(DIR *folder)
{
    REAL(readdir64);
    /* Nothing interrupts it, and it has no length. */
    if (number && number != EINTR && fails(READ, "readdir64", NULL, dirfd(folder)))
        return NULL;
    return real(folder);
}

/* Files by name. */

#define OPENS(name, ...) \
    REAL(name); \
    int mode = 0; \
    if (flags & (O_CREAT | __O_TMPFILE)) { \
        va_list rest; \
        va_start(rest, flags); \
        mode = va_arg(rest, int); \
        va_end(rest); \
    } \
    return fails(OPEN, #name, path, -1) ? -1 : real(__VA_ARGS__, flags, mode)

int open(const char *path, int flags, ...) { OPENS(open, path); }
int open64(const char *path, int flags, ...) { OPENS(open64, path); }
int openat(int folder, const char *path, int flags, ...) { OPENS(openat, folder, path); }
int openat64(int folder, const char *path, int flags, ...) { OPENS(openat64, folder, path); }

DIR *opendir(const char *path)
{
    REAL(opendir);
    /* Nothing interrupts it. */
    return number != EINTR && fails(OPEN, "opendir", path, -1) ? NULL : real(path);
}

#define PASS(kind, name, path, fd, failed, ...) \
    { \
        REAL(name); \
        return fails(kind, #name, path, fd) ? failed : real(__VA_ARGS__); \
    }

int stat64(const char *path, struct stat64 *out) PASS(STAT, stat64, path, -1, -1, path, out)
int lstat64(const char *path, struct stat64 *out) PASS(STAT, lstat64, path, -1, -1, path, out)
int fstat64(int fd, struct stat64 *out) PASS(STAT, fstat64, NULL, fd, -1, fd, out)
int fstatat64(int folder, const char *path, struct stat64 *out, int flags)
    PASS(STAT, fstatat64, path, -1, -1, folder, path, out, flags)
/* The path, if there is one. The runtime asks with a null pointer whether the call exists, which its declaration rules out. */
static __attribute__((noinline, noclone)) const char *named(const char *path)
{
    return path && *path ? path : NULL;
}

int statx(int folder, const char *path, int flags, unsigned mask, struct statx *out)
    PASS(STAT, statx, named(path), folder, -1, folder, path, flags, mask, out)

int ftruncate64(int fd, off64_t length) PASS(CHANGE, ftruncate64, NULL, fd, -1, fd, length)
int fsync(int fd) PASS(CHANGE, fsync, NULL, fd, -1, fd)
int fdatasync(int fd) PASS(CHANGE, fdatasync, NULL, fd, -1, fd)
int rename(const char *from, const char *to) PASS(CHANGE, rename, from, -1, -1, from, to)
int mkdir(const char *path, mode_t mode) PASS(CHANGE, mkdir, path, -1, -1, path, mode)
int symlink(const char *target, const char *path) PASS(CHANGE, symlink, path, -1, -1, target, path)
int unlink(const char *path) PASS(CHANGE, unlink, path, -1, -1, path)
int chmod(const char *path, mode_t mode) PASS(CHANGE, chmod, path, -1, -1, path, mode)
int fchmod(int fd, mode_t mode) PASS(CHANGE, fchmod, NULL, fd, -1, fd, mode)
int futimens(int fd, const struct timespec times[2]) PASS(CHANGE, futimens, NULL, fd, -1, fd, times)
int linkat(int from_folder, const char *from, int to_folder, const char *to, int flags)
    PASS(CHANGE, linkat, from, -1, -1, from_folder, from, to_folder, to, flags)

/* Descriptors without a name. */

int pipe2(int ends[2], int flags) PASS(DESCRIPTOR, pipe2, "", -1, -1, ends, flags)
int eventfd(unsigned count, int flags) PASS(DESCRIPTOR, eventfd, "", -1, -1, count, flags)
int memfd_create(const char *name, unsigned flags) PASS(DESCRIPTOR, memfd_create, name, -1, -1, name, flags)
int dup(int fd) PASS(DESCRIPTOR, dup, NULL, fd, -1, fd)
int socketpair(int domain, int type, int protocol, int ends[2])
    PASS(DESCRIPTOR, socketpair, "", -1, -1, domain, type, protocol, ends)

/* Memory. What is private and anonymous is left alone: it is the runtime's, which panics before `main` without a stack for
 * its signal handler. */

#define MAPS(name) \
    REAL(name); \
    if (!(fd < 0 && flags & MAP_PRIVATE) && fails(MMAP, #name, NULL, fd)) \
        return MAP_FAILED; \
    return real(address, length, protection, flags, fd, offset)

void *mmap(void *address, size_t length, int protection, int flags, int fd, off_t offset) { MAPS(mmap); }
void *mmap64(void *address, size_t length, int protection, int flags, int fd, off64_t offset) { MAPS(mmap64); }

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);

void *malloc(size_t size) { return fails(ALLOC, "malloc", "", -1) ? NULL : __libc_malloc(size); }
void *calloc(size_t count, size_t size) { return fails(ALLOC, "calloc", "", -1) ? NULL : __libc_calloc(count, size); }
void *realloc(void *old, size_t size) { return fails(ALLOC, "realloc", "", -1) ? NULL : __libc_realloc(old, size); }

int posix_memalign(void **out, size_t alignment, size_t size)
{
    if (fails(ALLOC, "posix_memalign", "", -1) || !(*out = __libc_memalign(alignment, size)))
        return ENOMEM;
    return 0;
}

/* Processes, threads, waiting. */

pid_t fork(void) PASS(FORK, fork, "", -1, -1)
pid_t waitpid(pid_t pid, int *status, int flags) PASS(WAIT, waitpid, "", -1, -1, pid, status, flags)
int waitid(idtype_t type, id_t id, siginfo_t *out, int flags) PASS(WAIT, waitid, "", -1, -1, type, id, out, flags)
int poll(struct pollfd *set, nfds_t count, int timeout) PASS(POLL, poll, "", -1, -1, set, count, timeout)
int posix_spawnp(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
                 const posix_spawnattr_t *attributes, char *const arguments[], char *const environment[])
    PASS(FORK, posix_spawnp, path, -1, number, pid, path, actions, attributes, arguments, environment)
int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument)
    PASS(THREAD, pthread_create, "", -1, number, thread, attributes, run, argument)

int ioctl(int fd, unsigned long request, ...)
{
    REAL(ioctl);
    va_list rest;
    va_start(rest, request);
    void *argument = va_arg(rest, void *);
    va_end(rest);
    return fails(IOCTL, "ioctl", NULL, fd) ? -1 : real(fd, request, argument);
}

long syscall(long which, ...)
{
    static long (*real)(long, ...);
    if (!__atomic_load_n(&real, __ATOMIC_ACQUIRE))
        __atomic_store_n(&real, (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall"), __ATOMIC_RELEASE);
    va_list rest;
    va_start(rest, which);
    long words[6];
    for (int each = 0; each < 6; each++)
        words[each] = va_arg(rest, long);
    va_end(rest);
    if (which == SYS_perf_event_open && fails(PERF_EVENT, "perf_event_open", "", -1))
        return -1;
    return real(which, words[0], words[1], words[2], words[3], words[4], words[5]);
}
