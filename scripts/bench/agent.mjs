// agent.c for machines without a C compiler: same arguments, same lines. A user line may ask for what is listed there.
// Writes with writeSync from pre-built blocks, because a stream costs more than the daemon it feeds.
import { writeSync } from "node:fs";

const BLOCK = 64 * 1024;
const HEAD =
  '{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"@T';
const WORDS = "and then the quick brown fox jumps over the lazy dog, ";
const DEFAULT_BYTES = 300;

if (process.argv.includes("--version")) {
  console.log("1.0.0 (bench-agent)");
  process.exit(0);
}
const session = argument("--session-id") ?? argument("--resume") ?? "00000000-0000-4000-8000-000000000000";
const napCell = new Int32Array(new SharedArrayBuffer(4));

let rest = "";
process.stdin.setEncoding("utf8");
for await (const text of process.stdin) {
  const lines = (rest + text).split("\n");
  rest = lines.pop() ?? "";
  for (const line of lines) if (line.includes('"type":"user"')) turn(line);
}

/** @param {string} name */
function argument(name) {
  const at = process.argv.indexOf(name);
  return at === -1 ? undefined : process.argv[at + 1];
}

/** @param {string} order */
function turn(order) {
  writeAll(
    Buffer.from(
      `{"type":"system","subtype":"init","cwd":"/","session_id":"${session}","tools":["Bash"],"model":"bench","permissionMode":"default"}\n`,
    ),
  );
  const floodOrder = /flood (\d+)(?: (\d+))?/.exec(order);
  const paceOrder = /pace ([\d.]+) ([\d.]+)(?: (\d+))?/.exec(order);
  if (floodOrder) flood(Number(floodOrder[1]), Number(floodOrder[2] ?? DEFAULT_BYTES));
  else if (paceOrder) pace(Number(paceOrder[1]), Number(paceOrder[2]), Number(paceOrder[3] ?? DEFAULT_BYTES));
  else flood(1, DEFAULT_BYTES);
  writeAll(
    Buffer.from(
      `{"type":"result","subtype":"success","is_error":false,"duration_ms":1,"num_turns":1,"result":"done","session_id":"${session}","usage":{"input_tokens":1,"output_tokens":1}}\n`,
    ),
  );
}

/** @param {number} bytes */
function buildLine(bytes) {
  const start = `${HEAD}${"0".repeat(20)} \\n`;
  const tail = `"}},"session_id":"${session}","parent_tool_use_id":null,"uuid":"64011636-8ed5-425c-9f9f-670d54c56b99"}\n`;
  const room = Math.max(0, Math.min(bytes, BLOCK) - start.length - tail.length);
  return Buffer.from(start + WORDS.repeat(Math.ceil(room / WORDS.length)).slice(0, room) + tail);
}

/**
 * @param {number} count
 * @param {number} bytes
 */
function flood(count, bytes) {
  const line = buildLine(bytes);
  const perBlock = Math.floor(BLOCK / line.length);
  const block = Buffer.concat(Array(perBlock).fill(line));
  for (let left = count; left > 0; left -= perBlock) {
    writeAll(left >= perBlock ? block : block.subarray(0, left * line.length));
  }
}

/**
 * @param {number} rate
 * @param {number} seconds
 * @param {number} bytes
 */
function pace(rate, seconds, bytes) {
  const line = buildLine(bytes);
  const start = process.hrtime.bigint();
  const count = Math.round(rate * seconds);
  for (let i = 0; i < count; i++) {
    const due = start + BigInt(Math.round((i * 1e9) / rate));
    const waitNs = Number(due - process.hrtime.bigint());
    if (waitNs > 0) nap(waitNs / 1e6);
    line.write(process.hrtime.bigint().toString().padStart(20, "0"), HEAD.length, "latin1");
    writeAll(line);
  }
}

/**
 * Waits on a cell that never changes, because setTimeout has no fractions of a millisecond.
 * @param {number} ms
 */
function nap(ms) {
  Atomics.wait(napCell, 0, 0, ms);
}

/** @param {Buffer} bytes */
function writeAll(bytes) {
  let at = 0;
  while (at < bytes.length) {
    try {
      at += writeSync(1, bytes, at);
    } catch (error) {
      // Node's end of a child's pipe may be non-blocking; anything else means the reader is gone.
      if (/** @type {NodeJS.ErrnoException} */ (error).code !== "EAGAIN") process.exit(0);
      nap(0.05);
    }
  }
}
