// The bench's fake agent at native speed: speaks just enough of Claude's stream-json to carry a load.
// agent.mjs is the same program for machines without a C compiler; a user line may ask for:
//   flood COUNT [BYTES]          COUNT delta lines of BYTES bytes each, as fast as the pipe takes them
//   pace RATE SECONDS [BYTES]    single-line writes, RATE a second, each stamped with CLOCK_MONOTONIC
//   say                          one delta line (also for any other text)
// Every turn is system/init, the deltas, result. End of stdin ends it, so it cannot outlive its parent.
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#define BLOCK (64 * 1024)
#define STAMP_DIGITS 20

// Each line carries the envelope of a real trace (Claude Code 2.1) around its text.
static const char HEAD[] = "{\"type\":\"stream_event\",\"event\":{\"type\":\"content_block_delta\",\"index\":0,"
                           "\"delta\":{\"type\":\"text_delta\",\"text\":\"@T";
static const char TAIL[] = "\"}},\"session_id\":\"%s\",\"parent_tool_use_id\":null,"
                           "\"uuid\":\"64011636-8ed5-425c-9f9f-670d54c56b99\"}\n";
// Text like a model's; the one escape makes JSON.parse take its slower path, as real text does.
static const char ESCAPE[] = " \\n";
static const char WORDS[] = "and then the quick brown fox jumps over the lazy dog, ";

static const char *session = "00000000-0000-4000-8000-000000000000";
static char line[BLOCK];
static char block[BLOCK];

static uint64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void write_all(const char *bytes, size_t length) {
  while (length > 0) {
    ssize_t n = write(1, bytes, length);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) exit(0);  // the reader is gone
    bytes += n;
    length -= (size_t)n;
  }
}

static void stamp(char *at, uint64_t value) {
  for (int i = STAMP_DIGITS - 1; i >= 0; i--, value /= 10) at[i] = (char)('0' + value % 10);
}

// Builds `line`, `bytes` long with its newline; returns its true length.
static size_t build_line(size_t bytes) {
  char tail[256];
  size_t tail_length = (size_t)snprintf(tail, sizeof tail, TAIL, session);
  size_t at = sizeof HEAD - 1;
  memcpy(line, HEAD, at);
  stamp(line + at, 0);
  at += STAMP_DIGITS;
  memcpy(line + at, ESCAPE, sizeof ESCAPE - 1);
  at += sizeof ESCAPE - 1;
  if (bytes > sizeof line) bytes = sizeof line;
  for (size_t i = 0; at + tail_length < bytes; i++) line[at++] = WORDS[i % (sizeof WORDS - 1)];
  memcpy(line + at, tail, tail_length);
  return at + tail_length;
}

static void flood(long count, size_t bytes) {
  size_t length = build_line(bytes);
  size_t per_block = sizeof block / length;
  for (size_t i = 0; i < per_block; i++) memcpy(block + i * length, line, length);
  while (count > 0) {
    size_t lines = (size_t)count < per_block ? (size_t)count : per_block;
    write_all(block, lines * length);
    count -= (long)lines;
  }
}

static void pace(double rate, double seconds, size_t bytes) {
  size_t length = build_line(bytes);
  long count = (long)(rate * seconds + 0.5);
  uint64_t start = now_ns();
  for (long i = 0; i < count; i++) {
    uint64_t due = start + (uint64_t)((double)i * 1e9 / rate);
    uint64_t now = now_ns();
    if (now < due) {
      struct timespec nap = {(time_t)((due - now) / 1000000000u), (long)((due - now) % 1000000000u)};
      nanosleep(&nap, NULL);
    }
    stamp(line + sizeof HEAD - 1, now_ns());
    write_all(line, length);
  }
}

static void say_init(void) {
  char text[512];
  int n = snprintf(text, sizeof text,
                   "{\"type\":\"system\",\"subtype\":\"init\",\"cwd\":\"/\",\"session_id\":\"%s\",\"tools\":[\"Bash\"],"
                   "\"model\":\"bench\",\"permissionMode\":\"default\"}\n",
                   session);
  write_all(text, (size_t)n);
}

static void say_result(void) {
  char text[512];
  int n = snprintf(text, sizeof text,
                   "{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"duration_ms\":1,\"num_turns\":1,"
                   "\"result\":\"done\",\"session_id\":\"%s\",\"usage\":{\"input_tokens\":1,\"output_tokens\":1}}\n",
                   session);
  write_all(text, (size_t)n);
}

static void turn(const char *order) {
  long count;
  double rate, seconds;
  size_t bytes = 300;
  const char *at;
  say_init();
  if ((at = strstr(order, "flood ")) && sscanf(at, "flood %ld %zu", &count, &bytes) >= 1) {
    flood(count, bytes);
  } else if ((at = strstr(order, "pace ")) && sscanf(at, "pace %lf %lf %zu", &rate, &seconds, &bytes) >= 2) {
    pace(rate, seconds, bytes);
  } else {
    flood(1, bytes);
  }
  say_result();
}

int main(int argc, char **argv) {
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "--version") == 0) {
      // Not "Claude Code": the daemon must treat this as a stub without the control protocol.
      puts("1.0.0 (bench-agent)");
      return 0;
    }
    if (i + 1 < argc && (strcmp(argv[i], "--session-id") == 0 || strcmp(argv[i], "--resume") == 0)) {
      session = argv[++i];
    }
  }
  if (strlen(session) > 128) return 2;
#ifdef __linux__
  prctl(PR_SET_TIMERSLACK, 1);  // the default lets every nap oversleep by 50 us
#endif
  char *order = NULL;
  size_t size = 0;
  while (getline(&order, &size, stdin) > 0) {
    if (strstr(order, "\"type\":\"user\"")) turn(order);
  }
  free(order);
  return 0;
}
