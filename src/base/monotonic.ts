// Milliseconds on the monotonic clock that all processes of this machine share. Not `performance.now()`: its first call
// loads a large part of Node (7 ms, 0.8 MB), and a client would wait for that.

export function readMonotonicMs(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1000 + nanoseconds / 1e6;
}
