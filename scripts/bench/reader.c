// The bench's client: drives N sessions over blemees/2, one connection each, and counts what comes back.
// It must never be the bottleneck, so it parses no JSON: it finds newlines and looks at `type` and `seq`
// where the previous line had them. reader.mjs is the same program for machines without a C compiler.
//   reader SOCKET SESSION_ID...      then orders on stdin, one JSON line of figures on stdout for each:
//     open         connect, hello, open every session
//     turn TEXT    send TEXT to every session, read until each had its agent.result
//     timed TEXT   the same, and compare the stamp in each delta with the clock on arrival
//     watch        hello and watch{last_seen_seq:0} on new connections, read up to the `last_seq` of the ack
//     resume       the same with open{resume:true,last_seen_seq:0}; the connections then own the sessions
//     attach N     N watchers of the first session, which read every later turn of it
//     ping N       N pings on the first connection, each after the answer to the one before
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define MAX_CONNECTIONS 1100
#define BUFFER (1024 * 1024)
#define MAX_SAMPLES 1000000
#define SILENCE_MS 30000

enum { DELTA, RESULT, OPENED, WATCHING, HELLO, PONG, FAULT, GAP, OTHER };
static const char *const MARKS[] = {"\"agent.delta\"",      "\"agent.result\"",       "\"blemeesd.opened\"",
                                    "\"blemeesd.watching\"", "\"blemeesd.hello_ack\"", "\"blemeesd.pong\"",
                                    "\"blemeesd.error\"",      "\"blemeesd.replay_gap\""};
enum { NO_MARK = OTHER + 1 };  // the wait ends at until_seq
static const char SEQ[] = "\"seq\":";

typedef struct {
  int fd;
  const char *id;
  char *bytes;  // starts with the unread tail of the last chunk
  size_t held;
  size_t mark_at, seq_at;  // where the previous line had its delta mark and its seq
  uint64_t seq;            // the highest seen
  uint64_t until_seq;      // a watch or resume is done here
  int wanted;              // the mark that ends this connection's wait
  int is_done;
} Connection;

static struct {
  uint64_t frames, bytes, deltas, results, missing, duplicates, unnumbered, gaps;
  uint64_t started_ns, first_frame_ns, first_delta_ns, ended_ns;
} figures;
static const char *socket_path;
static Connection owners[MAX_CONNECTIONS];
static int sessions;  // the connections from here on are watchers of the first session
static int watchers;
static uint64_t *samples;
static size_t sample_count;
static int is_timed;

static uint64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void die(const char *what) {
  fprintf(stderr, "reader: %s%s%s\n", what, errno ? ": " : "", errno ? strerror(errno) : "");
  exit(1);
}

// memmem is not POSIX; this one looks for the first character with memchr, which is fast enough.
static const char *find(const char *from, const char *end, const char *needle) {
  size_t length = strlen(needle);
  while ((size_t)(end - from) >= length) {
    const char *at = memchr(from, needle[0], (size_t)(end - from) - length + 1);
    if (!at) return NULL;
    if (memcmp(at, needle, length) == 0) return at;
    from = at + 1;
  }
  return NULL;
}

static int is_at(const char *line, const char *end, size_t at, const char *needle, size_t length) {
  return at > 0 && (size_t)(end - line) > at + length && memcmp(line + at, needle, length) == 0;
}

static int classify(Connection *c, const char *line, const char *end) {
  if (is_at(line, end, c->mark_at, MARKS[DELTA], strlen(MARKS[DELTA]))) return DELTA;
  // Quotes inside a string are escaped, so a mark with its quotes cannot come from an event's text.
  for (int kind = 0; kind < OTHER; kind++) {
    const char *at = find(line, end, MARKS[kind]);
    if (at && kind == DELTA) c->mark_at = (size_t)(at - line);
    if (at) return kind;
  }
  return OTHER;
}

static uint64_t number_after(const char *line, const char *end, const char *key) {
  const char *at = find(line, end, key);
  return at ? strtoull(at + strlen(key), NULL, 10) : 0;
}

static void check_seq(Connection *c, const char *line, const char *end) {
  if (!is_at(line, end, c->seq_at, SEQ, sizeof SEQ - 1)) {
    const char *at = find(line, end, SEQ);
    if (!at) {
      figures.unnumbered++;
      return;
    }
    c->seq_at = (size_t)(at - line);
  }
  uint64_t seq = 0;
  for (const char *digit = line + c->seq_at + sizeof SEQ - 1; *digit >= '0' && *digit <= '9'; digit++) {
    seq = seq * 10 + (uint64_t)(*digit - '0');
  }
  if (seq <= c->seq) {
    figures.duplicates++;
    return;
  }
  figures.missing += seq - c->seq - 1;
  c->seq = seq;
}

static void take_line(Connection *c, const char *line, const char *end, uint64_t arrived_ns) {
  int kind = classify(c, line, end);
  if (kind == FAULT || kind == GAP) fprintf(stderr, "reader: %.*s\n", (int)(end - line), line);
  if (kind == FAULT) exit(1);  // a refused request gets no other reply
  if (kind == GAP) {
    figures.gaps++;
    return;
  }
  if (kind == OPENED || kind == HELLO || kind == WATCHING || kind == PONG) {
    if (c->wanted == NO_MARK) c->until_seq = number_after(line, end, "\"last_seq\":");
    if (kind == WATCHING && kind == c->wanted) c->seq = number_after(line, end, "\"last_seq\":");
    if (kind == c->wanted) c->is_done = 1;
    return;
  }
  figures.frames++;
  if (figures.first_frame_ns == 0) figures.first_frame_ns = arrived_ns;
  check_seq(c, line, end);
  if (kind == DELTA) {
    figures.deltas++;
    if (figures.first_delta_ns == 0) figures.first_delta_ns = arrived_ns;
    if (is_timed && sample_count < MAX_SAMPLES) {
      uint64_t sent = number_after(line, end, "\"@T");
      if (sent > 0) samples[sample_count++] = arrived_ns - sent;
    }
  }
  if (kind == RESULT) figures.results++;
  if (kind == c->wanted || (c->until_seq > 0 && c->seq >= c->until_seq)) c->is_done = 1;
}

static void take_chunk(Connection *c) {
  if (c->held == BUFFER) die("a line is longer than the buffer");
  ssize_t n = recv(c->fd, c->bytes + c->held, BUFFER - c->held, 0);
  if (n < 0 && errno == EINTR) return;
  if (n <= 0) die("the connection ended");
  uint64_t arrived_ns = now_ns();
  figures.bytes += (uint64_t)n;
  char *line = c->bytes, *limit = c->bytes + c->held + n, *end;
  while ((end = memchr(line, '\n', (size_t)(limit - line)))) {
    take_line(c, line, end, arrived_ns);
    line = end + 1;
  }
  c->held = (size_t)(limit - line);
  memmove(c->bytes, line, c->held);
}

static void wait_for(Connection *all, int count, int mark) {
  struct pollfd polls[MAX_CONNECTIONS];
  for (int i = 0; i < count; i++) {
    all[i].wanted = mark;
    all[i].until_seq = 0;
    all[i].is_done = 0;
    polls[i] = (struct pollfd){all[i].fd, POLLIN, 0};
  }
  for (;;) {
    int is_done = 1;
    for (int i = 0; i < count; i++) is_done &= all[i].is_done;
    if (is_done) break;
    int ready = poll(polls, (nfds_t)count, SILENCE_MS);
    if (ready == 0) die("nothing arrived for 30 s");
    for (int i = 0; i < count; i++) {
      if (polls[i].revents) take_chunk(&all[i]);
    }
  }
  figures.ended_ns = now_ns();
}

static void send_line(Connection *c, const char *text) {
  size_t length = strlen(text);
  while (length > 0) {
    ssize_t n = send(c->fd, text, length, 0);
    if (n < 0) die("send");
    text += n;
    length -= (size_t)n;
  }
}

static void connect_to(Connection *c, const char *id) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (strlen(socket_path) >= sizeof address.sun_path) die("the socket path is too long");
  strcpy(address.sun_path, socket_path);
  *c = (Connection){.fd = socket(AF_UNIX, SOCK_STREAM, 0), .id = id, .bytes = malloc(BUFFER)};
  if (c->fd < 0 || !c->bytes || connect(c->fd, (struct sockaddr *)&address, sizeof address) < 0) die("connect");
  send_line(c, "{\"type\":\"blemeesd.hello\",\"client\":\"bench/1\",\"protocol\":\"blemees/2\"}\n");
  wait_for(c, 1, HELLO);
}

static void open_all(const char *extra, int mark) {
  char text[512];
  for (int i = 0; i < sessions; i++) connect_to(&owners[i], owners[i].id);
  figures.started_ns = now_ns();
  for (int i = 0; i < sessions; i++) {
    snprintf(text, sizeof text,
             "{\"type\":\"blemeesd.open\",\"id\":\"o\",\"session_id\":\"%s\",\"backend\":\"claude\",%s\"options\":{}}\n",
             owners[i].id, extra);
    send_line(&owners[i], text);
  }
  wait_for(owners, sessions, mark);
}

static void run_turn(const char *order) {
  char text[1024];
  for (int i = 0; i < sessions; i++) {
    snprintf(text, sizeof text,
             "{\"type\":\"agent.user\",\"session_id\":\"%s\",\"message\":{\"role\":\"user\",\"content\":\"%s\"}}\n",
             owners[i].id, order);
    send_line(&owners[i], text);
  }
  wait_for(owners, sessions + watchers, RESULT);
}

static void send_watch(Connection *c, const char *extra) {
  char text[512];
  snprintf(text, sizeof text, "{\"type\":\"blemeesd.watch\",\"id\":\"w\"%s,\"session_id\":\"%s\"}\n", extra, c->id);
  send_line(c, text);
}

static void watch_all(void) {
  static Connection readers[MAX_CONNECTIONS];
  for (int i = 0; i < sessions; i++) connect_to(&readers[i], owners[i].id);
  figures.started_ns = now_ns();
  for (int i = 0; i < sessions; i++) send_watch(&readers[i], ",\"last_seen_seq\":0");
  wait_for(readers, sessions, NO_MARK);
  for (int i = 0; i < sessions; i++) {
    close(readers[i].fd);
    free(readers[i].bytes);
  }
}

static void attach(int count) {
  if (sessions + watchers + count > MAX_CONNECTIONS) die("too many watchers");
  for (; count > 0; count--, watchers++) {
    Connection *c = &owners[sessions + watchers];
    connect_to(c, owners[0].id);
    send_watch(c, "");
    wait_for(c, 1, WATCHING);
  }
}

static void ping(int count) {
  for (int i = 0; i < count && sample_count < MAX_SAMPLES; i++) {
    uint64_t sent_ns = now_ns();
    send_line(&owners[0], "{\"type\":\"blemeesd.ping\"}\n");
    wait_for(owners, 1, PONG);
    samples[sample_count++] = figures.ended_ns - sent_ns;
  }
}

static int by_size(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return x < y ? -1 : x > y;
}

static uint64_t since_start(uint64_t moment_ns) {
  return moment_ns > figures.started_ns ? moment_ns - figures.started_ns : 0;
}

static void report(void) {
  qsort(samples, sample_count, sizeof *samples, by_size);
#define P(share) (unsigned long long)(sample_count ? samples[sample_count * share / 100] : 0)
#define N(name) (unsigned long long)figures.name
  printf("{\"frames\":%llu,\"bytes\":%llu,\"deltas\":%llu,\"results\":%llu,\"missing\":%llu,\"duplicates\":%llu,"
         "\"unnumbered\":%llu,\"gaps\":%llu,\"elapsed_ns\":%llu,\"first_frame_ns\":%llu,\"first_delta_ns\":%llu,"
         "\"samples\":%zu,\"p50_ns\":%llu,\"p99_ns\":%llu}\n",
         N(frames), N(bytes), N(deltas), N(results), N(missing), N(duplicates), N(unnumbered), N(gaps),
         (unsigned long long)since_start(figures.ended_ns), (unsigned long long)since_start(figures.first_frame_ns),
         (unsigned long long)since_start(figures.first_delta_ns), sample_count, P(50), P(99));
#undef N
#undef P
  fflush(stdout);
}

int main(int argc, char **argv) {
  if (argc < 3 || argc - 2 > MAX_CONNECTIONS) die("usage: reader SOCKET SESSION_ID...");
  signal(SIGPIPE, SIG_IGN);
  socket_path = argv[1];
  sessions = argc - 2;
  for (int i = 0; i < sessions; i++) owners[i].id = argv[2 + i];
  samples = malloc(MAX_SAMPLES * sizeof *samples);
  if (!samples) die("malloc");
  char *order = NULL;
  size_t size = 0;
  while (getline(&order, &size, stdin) > 0) {
    order[strcspn(order, "\n")] = 0;
    memset(&figures, 0, sizeof figures);
    sample_count = 0;
    errno = 0;
    is_timed = strncmp(order, "timed ", 6) == 0;
    figures.started_ns = now_ns();
    if (strcmp(order, "open") == 0) open_all("", OPENED);
    else if (strcmp(order, "resume") == 0) open_all("\"resume\":true,\"last_seen_seq\":0,", NO_MARK);
    else if (strncmp(order, "attach ", 7) == 0) attach(atoi(order + 7));
    else if (strncmp(order, "ping ", 5) == 0) ping(atoi(order + 5));
    else if (strcmp(order, "watch") == 0) watch_all();
    else if (strncmp(order, "turn ", 5) == 0) run_turn(order + 5);
    else if (is_timed) run_turn(order + 6);
    else die("unknown order");
    report();
  }
  free(order);
  return 0;
}
