/*
 * Keeps what a power cut would leave of the files below POWERCUT_ROOT, in the worst case: in
 * POWERCUT_KEPT each file has the content of its last successful flush, and nothing after it. Names
 * (renames and removals) are taken to last at once.
 *
 * Preloaded with LD_PRELOAD. The folders in POWERCUT_KEPT have to be there.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

/* Whether a path is below the root; if so, where its kept copy is. */
static int kept_path(const char *path, char *kept) {
    const char *root = getenv("POWERCUT_ROOT"), *to = getenv("POWERCUT_KEPT");
    if (!root || !to || strncmp(path, root, strlen(root)) != 0) return 0;
    snprintf(kept, PATH_MAX, "%s%s", to, path + strlen(root));
    return 1;
}

static void copy(const char *path, const char *kept) {
    char draft[PATH_MAX + 8], block[1 << 16];
    snprintf(draft, sizeof draft, "%s.draft", kept);
    int from = open(path, O_RDONLY | O_CLOEXEC);
    int to = open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    ssize_t size;
    while (from >= 0 && to >= 0 && (size = read(from, block, sizeof block)) > 0)
        if (write(to, block, size) != size) abort();
    if (from >= 0) close(from);
    if (to >= 0) close(to);
    REAL(rename)(draft, kept); /* the process may be killed at any time: never half a copy */
}

static void keep(int fd) {
    char link[64], path[PATH_MAX], kept[PATH_MAX];
    struct stat about;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0 || fstat(fd, &about) != 0 || !S_ISREG(about.st_mode)) return;
    path[length] = 0;
    if (kept_path(path, kept)) copy(path, kept);
}

int fsync(int fd) {
    int failed = REAL(fsync)(fd);
    if (!failed) keep(fd);
    return failed;
}

int fdatasync(int fd) {
    int failed = REAL(fdatasync)(fd);
    if (!failed) keep(fd);
    return failed;
}

int rename(const char *from, const char *to) {
    char kept_from[PATH_MAX], kept_to[PATH_MAX];
    int failed = REAL(rename)(from, to);
    if (!failed && kept_path(from, kept_from) && kept_path(to, kept_to))
        REAL(rename)(kept_from, kept_to);
    return failed;
}

int unlink(const char *path) {
    char kept[PATH_MAX];
    int failed = REAL(unlink)(path);
    if (!failed && kept_path(path, kept)) REAL(unlink)(kept);
    return failed;
}
