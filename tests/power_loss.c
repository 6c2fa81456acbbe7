/* Record what a power failure leaves of the files in one folder.
 *
 * Preloaded, it keeps in a second folder only what was synced:
 *
 *   INODE.data   the content of a file at its last fsync or fdatasync
 *   names        lines "name inode": of a file since its own sync, of all files since a sync of the
 *                folder
 *
 * A file that is removed keeps a second name, "held.INODE", so that its number is not used again.
 * LINKWISE_POWER_FOLDER and LINKWISE_POWER_KEPT name the two folders. A record replaces an older one
 * in one step, before the sync returns, so a process may be killed at any moment.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LENGTH = 4096 };

static void copy_content(int fd, const char *kept, unsigned long inode, const char *path) {
    char beside[LENGTH], place[LENGTH], part[65536];
    snprintf(beside, LENGTH, "%s/%lu.%d", kept, inode, gettid());
    snprintf(place, LENGTH, "%s/%lu.data", kept, inode);
    /* Closing another descriptor of a file would release the locks of its process. */
    int own = fcntl(fd, F_GETFL) & O_ACCMODE, from = own == O_WRONLY ? open(path, O_RDONLY) : fd;
    int to = open(beside, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    ssize_t got;
    for (off_t at = 0; (got = pread(from, part, sizeof part, at)) > 0; at += got)
        if (write(to, part, got) != got) abort();
    close(to);
    if (from != fd) close(from);
    if (rename(beside, place)) abort();
}

static void record_name(const char *kept, const char *name, unsigned long inode) {
    char place[LENGTH], line[LENGTH];
    snprintf(place, LENGTH, "%s/names", kept);
    int to = open(place, O_WRONLY | O_CREAT | O_APPEND, 0600);
    int length = snprintf(line, LENGTH, "%s %lu\n", name, inode);
    if (write(to, line, length) != length) abort();
    close(to);
}

static void record_folder(const char *folder, const char *kept) {
    char beside[LENGTH], place[LENGTH], path[LENGTH];
    snprintf(beside, LENGTH, "%s/names.%d", kept, gettid());
    snprintf(place, LENGTH, "%s/names", kept);
    FILE *to = fopen(beside, "w");
    DIR *list = opendir(folder);
    for (struct dirent *entry; (entry = readdir(list));) {
        struct stat found;
        snprintf(path, LENGTH, "%s/%s", folder, entry->d_name);
        if (!stat(path, &found) && S_ISREG(found.st_mode))
            fprintf(to, "%s %lu\n", entry->d_name, (unsigned long)found.st_ino);
    }
    closedir(list);
    fclose(to);
    if (rename(beside, place)) abort();
}

static void synced(int fd) {
    const char *folder = getenv("LINKWISE_POWER_FOLDER"), *kept = getenv("LINKWISE_POWER_KEPT");
    char link[64], path[LENGTH];
    struct stat found;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, LENGTH - 1);
    if (!folder || !kept || length < 0 || fstat(fd, &found)) return;
    path[length] = 0;
    if (S_ISDIR(found.st_mode) && !strcmp(path, folder)) {
        record_folder(folder, kept);
    } else if (S_ISREG(found.st_mode) && !strncmp(path, folder, strlen(folder)) &&
               path[strlen(folder)] == '/') {
        copy_content(fd, kept, found.st_ino, path);
        record_name(kept, path + strlen(folder) + 1, found.st_ino);
    }
}

static void hold(const char *path) {
    const char *folder = getenv("LINKWISE_POWER_FOLDER"), *kept = getenv("LINKWISE_POWER_KEPT");
    char place[LENGTH];
    struct stat found;
    if (!folder || !kept || strncmp(path, folder, strlen(folder)) || stat(path, &found)) return;
    snprintf(place, LENGTH, "%s/held.%lu", kept, (unsigned long)found.st_ino);
    (void)!link(path, place);
}

int unlink(const char *path) {
    int (*real)(const char *) = (int (*)(const char *))dlsym(RTLD_NEXT, "unlink");
    hold(path);
    return real(path);
}

int rename(const char *from, const char *to) {
    int (*real)(const char *, const char *) =
        (int (*)(const char *, const char *))dlsym(RTLD_NEXT, "rename");
    hold(to);
    return real(from, to);
}

int fsync(int fd) {
    int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
    int code = real(fd);
    if (!code) synced(fd);
    return code;
}

int fdatasync(int fd) {
    int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
    int code = real(fd);
    if (!code) synced(fd);
    return code;
}
