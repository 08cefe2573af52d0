// Runs a program and prints one JSON line: how long it took and the CPU time of it and its children.
//   timer exit PROGRAM ARG...            until it exits
//   timer hello SOCKET PROGRAM ARG...    until it answers a blemees/2 hello on SOCKET; then it is terminated
// timer.mjs is the same program for machines without a C compiler.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE_NS 20000000000ull
#define NAP_NS 100000

static uint64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void die(const char *what) {
  fprintf(stderr, "timer: %s%s%s\n", what, errno ? ": " : "", errno ? strerror(errno) : "");
  exit(1);
}

static pid_t start(char **command) {
  pid_t child = fork();
  if (child < 0) die("fork");
  if (child > 0) return child;
  int out = open("/dev/null", O_WRONLY);
  if (out >= 0) dup2(out, 1);
  execvp(command[0], command);
  die(command[0]);
  return 0;
}

static void await_hello(const char *path, pid_t child, uint64_t started_ns) {
  static const char HELLO[] = "{\"type\":\"blemeesd.hello\",\"client\":\"bench/1\",\"protocol\":\"blemees/2\"}\n";
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  struct timespec nap = {0, NAP_NS};
  if (strlen(path) >= sizeof address.sun_path) die("the socket path is too long");
  strcpy(address.sun_path, path);
  int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  while (connect(fd, (struct sockaddr *)&address, sizeof address) < 0) {
    if (waitpid(child, NULL, WNOHANG) != 0) die("it exited before it listened");
    if (now_ns() - started_ns > PATIENCE_NS) die("it does not listen");
    nanosleep(&nap, NULL);
  }
  char text[64 * 1024];
  size_t held = 0;
  if (send(fd, HELLO, sizeof HELLO - 1, 0) < 0) die("send");
  while (held == 0 || text[held - 1] != '\n') {
    ssize_t n = recv(fd, text + held, sizeof text - 1 - held, 0);
    if (n <= 0) die("no answer to hello");
    held += (size_t)n;
  }
  text[held] = 0;
  if (!strstr(text, "\"blemeesd.hello_ack\"")) die("hello was refused");
  close(fd);
}

int main(int argc, char **argv) {
  int is_hello = argc > 3 && strcmp(argv[1], "hello") == 0;
  if (!is_hello && (argc < 3 || strcmp(argv[1], "exit") != 0)) die("usage: timer exit|hello [SOCKET] PROGRAM ARG...");
  uint64_t started_ns = now_ns(), ended_ns = 0;
  pid_t child = start(argv + (is_hello ? 3 : 2));
  if (is_hello) {
    await_hello(argv[2], child, started_ns);
    ended_ns = now_ns();
    kill(child, SIGTERM);
  }
  int status;
  struct rusage used;
  if (wait4(child, &status, 0, &used) != child) die("wait4");
  if (!is_hello) ended_ns = now_ns();
  if (!is_hello && status != 0) {
    errno = 0;
    die("the program failed");
  }
  uint64_t cpu_us = (uint64_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000000u +
                    (uint64_t)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
  printf("{\"wall_ns\":%llu,\"cpu_ns\":%llu}\n", (unsigned long long)(ended_ns - started_ns),
         (unsigned long long)(cpu_us * 1000u));
  return 0;
}
