/*
 * Lets chosen system calls fail on files whose name holds a given text, or ends with it if the text
 * has a $ at its end.
 *
 * Preloaded with LD_PRELOAD into a process. FAULT_FILE is the text; FAULT_CONTROL names a file of
 * five int32 that is mapped, so that a test can change them at any time:
 *   call    which calls: 1 writing, 2 flushing, 3 reading (0: none)
 *   after   how many of them still succeed
 *   times   how many then fail (-1: all)
 *   error   with which errno; -1: the process is killed there
 *   really  whether the call is carried out before it is said to have failed
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

enum { WRITING = 1, FLUSHING = 2, READING = 3 };

struct control {
    volatile int32_t call, after, times, error, really;
};

static struct control *control;
static const char *wanted;
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;

__attribute__((constructor)) static void start(void) {
    const char *path = getenv("FAULT_CONTROL");
    wanted = getenv("FAULT_FILE");
    int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (fd < 0 || !wanted) return;
    void *map = mmap(NULL, sizeof *control, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (map != MAP_FAILED) control = map;
    close(fd);
}

static int is_wanted(int fd) {
    char link[64], name[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, name, sizeof name - 1);
    if (length < 0) return 0;
    name[length] = 0;
    size_t given = strlen(wanted);
    if (given == 0 || wanted[given - 1] != '$') return strstr(name, wanted) != NULL;
    if ((size_t)length < given - 1) return 0;
    return memcmp(name + length - (given - 1), wanted, given - 1) == 0;
}

/* Whether this call is to fail; counts it. */
static int fails(int call, int fd) {
    if (!control || control->call != call || !is_wanted(fd)) return 0;
    int failing = 0;
    pthread_mutex_lock(&guard);
    if (control->after > 0) {
        control->after--;
    } else if (control->times != 0) {
        if (control->times > 0) control->times--;
        failing = 1;
    }
    pthread_mutex_unlock(&guard);
    return failing;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define FAULTY(call, fd, carry_out)          \
    if (fails(call, fd)) {                   \
        if (control->really) (void)carry_out; \
        if (control->error < 0) kill(getpid(), SIGKILL); \
        errno = control->error;              \
        return -1;                           \
    }                                        \
    return carry_out

ssize_t pwrite64(int fd, const void *data, size_t size, off64_t at) {
    FAULTY(WRITING, fd, REAL(pwrite64)(fd, data, size, at));
}
ssize_t write(int fd, const void *data, size_t size) {
    FAULTY(WRITING, fd, REAL(write)(fd, data, size));
}
int ftruncate64(int fd, off64_t size) {
    FAULTY(WRITING, fd, REAL(ftruncate64)(fd, size));
}
int fsync(int fd) {
    FAULTY(FLUSHING, fd, REAL(fsync)(fd));
}
int fdatasync(int fd) {
    FAULTY(FLUSHING, fd, REAL(fdatasync)(fd));
}
ssize_t pread64(int fd, void *data, size_t size, off64_t at) {
    FAULTY(READING, fd, REAL(pread64)(fd, data, size, at));
}
ssize_t read(int fd, void *data, size_t size) {
    FAULTY(READING, fd, REAL(read)(fd, data, size));
}
