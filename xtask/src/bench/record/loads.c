/* What `bench record` records: `loads NAME N`. Those that run before the recorder print a line when they are ready. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}

/* A call chain of `depth` functions above some work. */
__attribute__((noinline)) static unsigned long dig(int depth)
{
    volatile unsigned long sum = depth;
    if (depth > 0)
        sum += dig(depth - 1);
    else
        for (int i = 0; i < 2000; i++)
            sum += i;
    return sum;
}

static void *spin(void *seconds)
{
    double end = now() + *(double *)seconds;
    while (now() < end)
        dig(20);
    return NULL;
}

/* Many threads cannot all run: each works now and then. */
static void *work_and_rest(void *seconds)
{
    double end = now() + *(double *)seconds;
    while (now() < end) {
        for (int i = 0; i < 20; i++)
            dig(20);
        usleep(1000 * 1000);
    }
    return NULL;
}

static void start(int count, void *(*work)(void *), double *seconds)
{
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, 1 << 16);
    pthread_t *threads = calloc(count, sizeof *threads);
    for (int i = 0; i < count; i++)
        if (pthread_create(&threads[i], &attr, work, seconds))
            exit(1);
    puts("ready");
    fflush(stdout);
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
}

static void processes(int count)
{
    char *words[] = {"/bin/true", NULL};
    for (int i = 0; i < count; i++) {
        pid_t pid;
        if (posix_spawn(&pid, words[0], NULL, NULL, words, environ))
            exit(1);
        waitpid(pid, NULL, 0);
    }
}

/* The same page of this program over and over: neighbours that the kernel does not join. */
static void maps(int count)
{
    int self = open("/proc/self/exe", O_RDONLY), made = 0;
    while (made < count &&
           mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, self, 0) != MAP_FAILED)
        made++;
    printf("ready with %d mappings\n", made);
    fflush(stdout);
    pause();
}

int main(int argc, char **argv)
{
    int number = argc > 2 ? atoi(argv[2]) : 0;
    double seconds = argc > 3 ? atof(argv[3]) : number;
    if (argc < 3)
        return 2;
    if (!strcmp(argv[1], "spin"))
        start(sysconf(_SC_NPROCESSORS_ONLN), spin, &seconds);
    else if (!strcmp(argv[1], "threads"))
        start(number, work_and_rest, &seconds);
    else if (!strcmp(argv[1], "processes"))
        processes(number);
    else if (!strcmp(argv[1], "maps"))
        maps(number);
    else
        return 2;
    return 0;
}
