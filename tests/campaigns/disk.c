/* A disk that fails when it is told to, and writes down what was written and synced: preloaded before libc.
 *
 * DISK_FOLDER   files below it are watched, nothing else is
 * DISK_CONTROL  a file of four 32-bit numbers, shared with whoever gives orders: kind, countdown, is_sticky, fired
 * DISK_LOG      where set, every change is appended: operation, length of path, offset, length of data; path; data
 *
 * A call of the ordered kind counts down; the one that finds 0 fails, and with is_sticky every later one of its kind.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

enum { NO_SPACE = 1, WRITE_FAILS, SHORT_WRITE, SYNC_FAILS, READ_FAILS, LOCKED, CANNOT_OPEN };
enum { WROTE = 'w', SYNCED = 's', CUT = 't', MADE = 'c', REMOVED = 'u', RENAMED = 'r' };
enum { MOST_FILES = 4096, LONGEST = 512 };

struct control { volatile int32_t kind, countdown, is_sticky, fired; };

static struct control nobody;
static struct control *control = &nobody;
static char folder[LONGEST];
static char paths[MOST_FILES][LONGEST];
static int log_file = -1;
static int fails_next = -1;
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static int (*real_open)(const char *, int, ...);
static int (*real_openat)(int, const char *, int, ...);
static int (*real_close)(int);
static ssize_t (*real_write)(int, const void *, size_t);
static ssize_t (*real_pwrite)(int, const void *, size_t, off_t);
static ssize_t (*real_read)(int, void *, size_t);
static ssize_t (*real_pread)(int, void *, size_t, off_t);
static int (*real_fsync)(int);
static int (*real_fdatasync)(int);
static int (*real_ftruncate)(int, off_t);
static int (*real_unlink)(const char *);
static int (*real_rename)(const char *, const char *);
static int (*real_fcntl)(int, int, ...);

static void *find(const char *name) { return dlsym(RTLD_NEXT, name); }

__attribute__((constructor)) static void begin(void)
{
    real_open = find("open64");
    real_openat = find("openat64");
    real_close = find("close");
    real_write = find("write");
    real_pwrite = find("pwrite64");
    real_read = find("read");
    real_pread = find("pread64");
    real_fsync = find("fsync");
    real_fdatasync = find("fdatasync");
    real_ftruncate = find("ftruncate64");
    real_unlink = find("unlink");
    real_rename = find("rename");
    real_fcntl = find("fcntl64");
    const char *place = getenv("DISK_FOLDER"), *orders = getenv("DISK_CONTROL"), *log = getenv("DISK_LOG");
    if (place) snprintf(folder, sizeof folder, "%s", place);
    if (orders) {
        int file = real_open(orders, O_RDWR);
        void *shared = file < 0 ? MAP_FAILED : mmap(0, sizeof *control, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        if (shared == MAP_FAILED) abort();
        control = shared;
        real_close(file);
    }
    if (log) log_file = real_open(log, O_WRONLY | O_CREAT | O_APPEND, 0600);
}

static int is_ours(const char *path) { return folder[0] && path && !strncmp(path, folder, strlen(folder)); }
static int is_watched(int file) { return file >= 0 && file < MOST_FILES && paths[file][0]; }

static void note(char operation, const char *path, int64_t offset, const void *data, int64_t length)
{
    if (log_file < 0 || strstr(path, "-shm")) return;
    struct __attribute__((packed)) { char operation; uint16_t path; int64_t offset, length; } head;
    head.operation = operation, head.path = strlen(path), head.offset = offset, head.length = length;
    if (real_write(log_file, &head, sizeof head) != sizeof head) abort();
    if (real_write(log_file, path, head.path) != head.path) abort();
    if (length && real_write(log_file, data, length) != length) abort();
}

/* Whether a call of this kind on this file fails now. */
static int fails(int kind, int file)
{
    if (control->kind != kind || !is_watched(file)) return 0;
    if (control->countdown-- > 0) return 0;
    if (control->fired && !control->is_sticky) return 0;
    control->fired++;
    return 1;
}

static int opened(int file, const char *path, int is_new)
{
    if (file >= 0 && file < MOST_FILES && is_ours(path)) {
        snprintf(paths[file], LONGEST, "%s", path);
        if (is_new) note(MADE, path, 0, 0, 0);
    }
    return file;
}

static int refuses(const char *path)
{
    if (control->kind != CANNOT_OPEN || !is_ours(path) || control->countdown-- > 0) return 0;
    if (control->fired && !control->is_sticky) return 0;
    control->fired++;
    errno = EIO;
    return 1;
}

static int open_one(const char *path, int flags, mode_t mode)
{
    if (refuses(path)) return -1;
    pthread_mutex_lock(&turn);
    int is_new = is_ours(path) && (flags & O_CREAT) && access(path, F_OK) != 0;
    int file = opened(real_open(path, flags, mode), path, is_new);
    if (file >= 0 && (flags & O_TRUNC) && is_watched(file)) note(CUT, path, 0, 0, 0);
    pthread_mutex_unlock(&turn);
    return file;
}

#define MODE(after) mode_t mode = 0; if (flags & (O_CREAT | O_TMPFILE)) { va_list more; va_start(more, after); mode = va_arg(more, int); va_end(more); }
int open(const char *path, int flags, ...) { MODE(flags) return open_one(path, flags, mode); }
int open64(const char *path, int flags, ...) { MODE(flags) return open_one(path, flags, mode); }
int openat(int at, const char *path, int flags, ...)
{
    MODE(flags)
    return at == AT_FDCWD ? open_one(path, flags, mode) : real_openat(at, path, flags, mode);
}
int openat64(int at, const char *path, int flags, ...)
{
    MODE(flags)
    return at == AT_FDCWD ? open_one(path, flags, mode) : real_openat(at, path, flags, mode);
}

int close(int file)
{
    if (is_watched(file)) paths[file][0] = 0;
    return real_close(file);
}

/* How much of a write goes through: all, half, or -1 with errno. */
static ssize_t allowed(int file, size_t length)
{
    if (!is_watched(file)) return length;
    if (control->kind != SHORT_WRITE) fails_next = -1;
    if (fails_next == file) {
        fails_next = -1;
        errno = ENOSPC;
        return -1;
    }
    if (fails(NO_SPACE, file)) { errno = ENOSPC; return -1; }
    if (fails(WRITE_FAILS, file)) { errno = EIO; return -1; }
    if (fails(SHORT_WRITE, file)) { fails_next = file; return length / 2; }
    return length;
}

ssize_t pwrite64(int file, const void *data, size_t length, off_t offset)
{
    if (!is_watched(file)) return real_pwrite(file, data, length, offset);
    pthread_mutex_lock(&turn);
    ssize_t done = allowed(file, length);
    if (done > 0) done = real_pwrite(file, data, done, offset);
    if (done > 0) note(WROTE, paths[file], offset, data, done);
    pthread_mutex_unlock(&turn);
    return done;
}
ssize_t pwrite(int file, const void *data, size_t length, off_t offset) { return pwrite64(file, data, length, offset); }

ssize_t write(int file, const void *data, size_t length)
{
    if (!is_watched(file)) return real_write(file, data, length);
    pthread_mutex_lock(&turn);
    off_t offset = lseek(file, 0, SEEK_CUR);
    if (real_fcntl(file, F_GETFL) & O_APPEND) offset = lseek(file, 0, SEEK_END);
    ssize_t done = allowed(file, length);
    if (done > 0) done = real_write(file, data, done);
    if (done > 0) note(WROTE, paths[file], offset, data, done);
    pthread_mutex_unlock(&turn);
    return done;
}

ssize_t read(int file, void *data, size_t length)
{
    if (fails(READ_FAILS, file)) { errno = EIO; return -1; }
    return real_read(file, data, length);
}
ssize_t pread64(int file, void *data, size_t length, off_t offset)
{
    if (fails(READ_FAILS, file)) { errno = EIO; return -1; }
    return real_pread(file, data, length, offset);
}
ssize_t pread(int file, void *data, size_t length, off_t offset) { return pread64(file, data, length, offset); }

static int synced(int file, int (*sync)(int))
{
    if (fails(SYNC_FAILS, file)) { errno = EIO; return -1; }
    int done = sync(file);
    if (done == 0 && is_watched(file)) {
        pthread_mutex_lock(&turn);
        note(SYNCED, paths[file], 0, 0, 0);
        pthread_mutex_unlock(&turn);
    }
    return done;
}
int fsync(int file) { return synced(file, real_fsync); }
int fdatasync(int file) { return synced(file, real_fdatasync); }

int ftruncate64(int file, off_t length)
{
    if (fails(NO_SPACE, file) || fails(WRITE_FAILS, file)) { errno = EIO; return -1; }
    pthread_mutex_lock(&turn);
    int done = real_ftruncate(file, length);
    if (done == 0 && is_watched(file)) note(CUT, paths[file], length, 0, 0);
    pthread_mutex_unlock(&turn);
    return done;
}
int ftruncate(int file, off_t length) { return ftruncate64(file, length); }

int unlink(const char *path)
{
    int done = real_unlink(path);
    if (done == 0 && is_ours(path)) { pthread_mutex_lock(&turn); note(REMOVED, path, 0, 0, 0); pthread_mutex_unlock(&turn); }
    return done;
}
int rename(const char *from, const char *to)
{
    int done = real_rename(from, to);
    if (done == 0 && is_ours(to)) { pthread_mutex_lock(&turn); note(RENAMED, from, 0, to, strlen(to)); pthread_mutex_unlock(&turn); }
    return done;
}

static int locks(int file, int command, void *argument)
{
    /* The kernel refuses a lock that another has; it never refuses to let one go. */
    if (command == F_SETLK && ((struct flock *)argument)->l_type != F_UNLCK && fails(LOCKED, file)) { errno = EAGAIN; return -1; }
    return real_fcntl(file, command, argument);
}
#define ARGUMENT va_list more; va_start(more, command); void *argument = va_arg(more, void *); va_end(more);
int fcntl(int file, int command, ...) { ARGUMENT return locks(file, command, argument); }
int fcntl64(int file, int command, ...) { ARGUMENT return locks(file, command, argument); }
