/*
 * Makes system calls that Node cannot make, and tells how they ended: `through`, or `refused N` with the number of
 * the error. A call that ends the process says so by its signal. Small and static, so that it runs in a sandbox
 * that has no libraries. Ring 2: hostile by trade.
 *
 *   probe call NUMBER ARGUMENT... [-- NUMBER ARGUMENT...]...
 *   probe int80 | ptrace | readv | exhaust-sockets N | ...
 *
 * ARGUMENT: 12 or -1; =text; %c0ffee (a buffer with these bytes); $1 (what the first call returned); [a,b] (a pointer
 * to words). A NUMBER with `!` before it returns twice, and the second time ends at once.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static long results[32];

static int refused(int error) {
  printf("refused %d\n", error);
  return 0;
}

static int through(void) {
  puts("through");
  return 0;
}

static long parse(const char **at);

static long buffer_of(const char **at) {
  size_t digits = strspn(*at, "0123456789abcdef");
  unsigned char *bytes = calloc(digits / 2 + 16, 1);
  for (size_t i = 0; i + 1 < digits; i += 2) {
    char pair[3] = {(*at)[i], (*at)[i + 1], 0};
    bytes[i / 2] = (unsigned char)strtoul(pair, NULL, 16);
  }
  *at += digits;
  return (long)bytes;
}

static long words_of(const char **at) {
  long *words = calloc(64, sizeof(long));
  for (int i = 0; i < 64 && **at != ']' && **at != 0; i++) {
    words[i] = parse(at);
    if (**at == ',') (*at)++;
  }
  if (**at == ']') (*at)++;
  return (long)words;
}

static long parse(const char **at) {
  char *end;
  long value;
  switch (**at) {
    case '=': {
      const char *text = *at + 1;
      *at += strlen(*at);
      return (long)text;
    }
    case '%':
      (*at)++;
      return buffer_of(at);
    case '[':
      (*at)++;
      return words_of(at);
    case '$':
      value = strtol(*at + 1, &end, 10);
      *at = end;
      return value > 0 && value <= 32 ? results[value - 1] : 0;
    default:
      value = strtol(*at, &end, 0);
      *at = end;
      return value;
  }
}

static int calls(int count, char **args) {
  int made = 0;
  for (int i = 0; i < count && made < 32; made++) {
    int forks = args[i][0] == '!';
    long number = strtol(args[i++] + forks, NULL, 0), a[6] = {0};
    for (int j = 0; i < count && strcmp(args[i], "--") != 0; i++, j++) {
      const char *at = args[i];
      if (j < 6) a[j] = parse(&at);
    }
    i++;
    fflush(stdout);
    long result = syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    if (result < 0) return refused(errno);
    if (forks && result == 0) _exit(0);
    results[made] = result;
  }
  return through();
}

/* A system call of 32-bit programs, whose numbers a list of 64-bit numbers does not know: getpid is 20. */
static int int80(void) {
#ifdef __x86_64__
  long result;
  __asm__ volatile("int $0x80" : "=a"(result) : "a"(20) : "memory");
  return result > 0 ? through() : refused((int)-result);
#else
  return refused(ENOSYS);
#endif
}

/* Whoever reads what this program says would wait for its children. */
static void close_streams(void) {
  for (int stream = 0; stream < 3; stream++) close(stream);
}

/* Whoever watches looks once a second; where others keep it from the processors, later. */
static void be_watched(void) {
  sleep(10);
}

/* Of what stays until it is ended: with no pid namespace nobody else ends it. */
#define LIFE_SECONDS 60

static pid_t sleeper(void) {
  pid_t child = fork();
  if (child == 0) {
    close_streams();
    alarm(LIFE_SECONDS);
    for (;;) pause();
  }
  return child;
}

static int attach(void) {
  pid_t child = sleeper();
  if (child < 0) return refused(errno);
  long result = ptrace(PTRACE_ATTACH, child, 0, 0);
  int error = errno;
  kill(child, SIGKILL);
  return result < 0 ? refused(error) : through();
}

static int read_memory(pid_t of) {
  static char there[] = "a word in memory";
  char here[sizeof there] = {0};
  pid_t child = of == 0 ? sleeper() : of;
  struct iovec to = {here, sizeof here}, from = {there, sizeof there};
  long result = process_vm_readv(child, &to, 1, &from, 1, 0);
  int error = errno;
  if (of == 0) kill(child, SIGKILL);
  return result < 0 ? refused(error) : through();
}

/* Children that stay; through once `most` of them live at the same time. */
static int children(int most) {
  for (int i = 0; i < most; i++) {
    pid_t child = sleeper();
    if (child < 0) {
      int error = errno;
      printf("after %d: ", i);
      return refused(error);
    }
  }
  if (most > 10) be_watched();
  return through();
}

/* Children that end and are never waited for. */
static int zombies(int most) {
  for (int i = 0; i < most; i++) {
    pid_t child = fork();
    if (child < 0) {
      int error = errno;
      printf("after %d: ", i);
      return refused(error);
    }
    if (child == 0) _exit(0);
  }
  if (most > 10) be_watched();
  return through();
}

/* One word in each page; volatile, or the compiler sees that nobody reads it and leaves it out. */
static volatile char *pages(long mib) {
  volatile char *memory = malloc((size_t)mib << 20);
  for (long at = 0; memory != NULL && at < mib << 20; at += 4096) memory[at] = 1;
  return memory;
}

/* Pages that are really used, in `parts` processes at once. */
static int hold(long mib, int parts) {
  for (int i = 1; i < parts; i++) {
    pid_t child = fork();
    if (child < 0) return refused(errno);
    if (child == 0) {
      close_streams();
      alarm(LIFE_SECONDS);
      pages(mib);
      for (;;) pause();
    }
  }
  if (pages(mib) == NULL) return refused(errno);
  be_watched();
  return through();
}

/* CPU time of `parts` processes for some seconds each, at most `seconds` by the clock. */
static int spin(int seconds, int parts) {
  alarm(300);
  for (int i = 0; i < parts; i++) {
    pid_t child = fork();
    if (child < 0) return refused(errno);
    if (child == 0) {
      struct rusage used;
      do {
        for (volatile int n = 0; n < 1000000; n++) {}
        getrusage(RUSAGE_SELF, &used);
      } while (used.ru_utime.tv_sec < seconds);
      _exit(0);
    }
  }
  int status, all_well = 1;
  while (wait(&status) > 0) all_well &= WIFEXITED(status);
  if (all_well) return through();
  puts("refused SIGXCPU");
  return 0;
}

/* Memory of the kernel: buffers of sockets and pipes that nobody reads. Through once `mib` are in them. */
static int buffers(long mib, int parts) {
  static char block[64 * 1024];
  long mine = mib / parts;
  for (int i = 1; i < parts; i++) {
    pid_t child = fork();
    if (child < 0) return refused(errno);
    if (child == 0) {
      close_streams();
      alarm(LIFE_SECONDS);
      long held = 0;
      int pair[2];
      while (held < mine << 20 && socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair) == 0)
        for (int side = 0; side < 2; side++) {
          ssize_t written;
          while ((written = write(pair[side], block, sizeof block)) > 0) held += written;
        }
      for (;;) pause();
    }
  }
  long held = 0;
  int pair[2];
  while (held < mine << 20) {
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair) < 0) return refused(errno);
    for (int side = 0; side < 2; side++) {
      ssize_t written;
      while ((written = write(pair[side], block, sizeof block)) > 0) held += written;
    }
  }
  be_watched();
  return through();
}

/* Memory of zeros that nobody wrote to: of no page that counts, and a page of tables for each 2 MiB of it. */
static int tables(long gib) {
  size_t size = (size_t)gib << 30;
  volatile char *zeros = mmap(NULL, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (zeros == MAP_FAILED) return refused(errno);
  int read = 0;
  for (size_t at = 0; at < size; at += 2 << 20) read |= zeros[at];
  be_watched();
  return read == 0 ? through() : refused(EIO);
}

int main(int count, char **args) {
  setvbuf(stdout, NULL, _IONBF, 0);
  const char *verb = count > 1 ? args[1] : "";
  long first = count > 2 ? strtol(args[2], NULL, 0) : 0;
  int second = count > 3 ? atoi(args[3]) : 1;
  if (strcmp(verb, "call") == 0) return calls(count - 2, args + 2);
  if (strcmp(verb, "int80") == 0) return int80();
  if (strcmp(verb, "ptrace") == 0) return attach();
  if (strcmp(verb, "readv") == 0) return read_memory((pid_t)first);
  if (strcmp(verb, "children") == 0) return children((int)first);
  if (strcmp(verb, "zombies") == 0) return zombies((int)first);
  if (strcmp(verb, "hold") == 0) return hold(first, second);
  if (strcmp(verb, "spin") == 0) return spin((int)first, second);
  if (strcmp(verb, "buffers") == 0) return buffers(first, second);
  if (strcmp(verb, "tables") == 0) return tables(first);
  return 64;
}
