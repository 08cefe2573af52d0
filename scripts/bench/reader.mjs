// reader.c for machines without a C compiler: same arguments, same orders, same figures. Much slower, so a bench with
// it measures this file more than the daemon; the table mentions it.
import { connect } from "node:net";
import { createInterface } from "node:readline";

const MARKS = {
  delta: '"agent.delta"',
  result: '"agent.result"',
  opened: '"blemeesd.opened"',
  watching: '"blemeesd.watching"',
  hello: '"blemeesd.hello_ack"',
  pong: '"blemeesd.pong"',
  fault: '"blemeesd.error"',
  gap: '"blemeesd.replay_gap"',
};
const SEQ = Buffer.from('"seq":');
const DELTA = Buffer.from(MARKS.delta);
const LF = 0x0a;
const SILENCE_MS = 30_000;
const now = process.hrtime.bigint;

const [socketPath, ...ids] = process.argv.slice(2);
if (socketPath === undefined || ids.length === 0) die("usage: reader SOCKET SESSION_ID...");
/** @type {Connection[]} */
let owners = [];
/** @type {Connection[]} of the first session */
const watchers = [];
let figures = freshFigures();
/** @type {number[]} */
let samples = [];
let isTimed = false;
const silence = setTimeout(() => die("nothing arrived for 30 s"), SILENCE_MS);

for await (const order of createInterface({ input: process.stdin })) {
  figures = freshFigures();
  samples = [];
  isTimed = order.startsWith("timed ");
  silence.refresh();
  const text = order.slice(order.indexOf(" ") + 1);
  if (order === "open") await openAll({}, "opened");
  else if (order === "resume") await openAll({ resume: true, last_seen_seq: 0 }, "until_seq");
  else if (order.startsWith("attach ")) await attach(Number(text));
  else if (order.startsWith("ping ")) await ping(Number(text));
  else if (order === "watch") await watchAll();
  else if (order.startsWith("turn ") || isTimed) await runTurn(text);
  else die("unknown order");
  report();
}
process.exit(0);

/** @param {string} what */
function die(what) {
  process.stderr.write(`reader: ${what}\n`);
  process.exit(1);
}

function freshFigures() {
  const counts = {
    frames: 0,
    bytes: 0,
    deltas: 0,
    results: 0,
    missing: 0,
    duplicates: 0,
    unnumbered: 0,
    gaps: 0,
  };
  return { ...counts, started: now(), ended: 0n, firstFrame: 0n, firstDelta: 0n };
}

/**
 * @typedef {object} Connection
 * @property {import("node:net").Socket} socket
 * @property {string} id
 * @property {Buffer} held the unread tail of the last chunk
 * @property {number} markAt where the previous line had its delta mark
 * @property {number} seqAt and its seq
 * @property {number} seq the highest seen
 * @property {number} untilSeq a watch or resume is done here
 * @property {string} wanted the kind of line that ends this connection's wait
 * @property {() => void} done
 */

/** @param {string} id */
async function connectTo(id) {
  const socket = connect(/** @type {string} */ (socketPath));
  /** @type {Connection} */
  const c = {
    socket,
    id,
    held: Buffer.alloc(0),
    markAt: 0,
    seqAt: 0,
    seq: 0,
    untilSeq: 0,
    wanted: "",
    done() {},
  };
  socket.on("data", (chunk) => takeChunk(c, chunk));
  socket.on("error", (error) => die(error.message));
  socket.on("end", () => die("the connection ended"));
  socket.write('{"type":"blemeesd.hello","client":"bench/1","protocol":"blemees/2"}\n');
  await waitFor([c], "hello");
  return c;
}

/**
 * @param {object} extra
 * @param {string} kind
 */
async function openAll(extra, kind) {
  owners = await Promise.all(ids.map(connectTo));
  figures.started = now();
  for (const c of owners) {
    send(c, { type: "blemeesd.open", id: "o", session_id: c.id, backend: "claude", ...extra, options: {} });
  }
  await waitFor(owners, kind);
}

/** @param {string} content */
async function runTurn(content) {
  for (const c of owners)
    send(c, { type: "agent.user", session_id: c.id, message: { role: "user", content } });
  await waitFor([...owners, ...watchers], "result");
}

async function watchAll() {
  const readers = await Promise.all(ids.map(connectTo));
  figures.started = now();
  for (const c of readers) send(c, { type: "blemeesd.watch", id: "w", session_id: c.id, last_seen_seq: 0 });
  await waitFor(readers, "until_seq");
  for (const c of readers) c.socket.removeAllListeners("end").destroy();
}

/** @param {number} count */
async function attach(count) {
  for (let i = 0; i < count; i++) {
    const c = await connectTo(/** @type {string} */ (ids[0]));
    watchers.push(c);
    send(c, { type: "blemeesd.watch", id: "w", session_id: c.id });
    await waitFor([c], "watching");
  }
}

/** @param {number} count */
async function ping(count) {
  const c = /** @type {Connection} */ (owners[0]);
  for (let i = 0; i < count; i++) {
    const sent = now();
    send(c, { type: "blemeesd.ping" });
    await waitFor([c], "pong");
    samples.push(Number(figures.ended - sent));
  }
}

/**
 * @param {Connection} c
 * @param {object} frame
 */
function send(c, frame) {
  c.socket.write(`${JSON.stringify(frame)}\n`);
}

/**
 * @param {Connection[]} all
 * @param {string} kind
 */
async function waitFor(all, kind) {
  await Promise.all(
    all.map(
      (c) =>
        new Promise((resolve) => {
          c.wanted = kind;
          c.untilSeq = 0;
          c.done = () => resolve(undefined);
        }),
    ),
  );
  figures.ended = now();
}

/**
 * @param {Connection} c
 * @param {Buffer} chunk
 */
function takeChunk(c, chunk) {
  const arrived = now();
  silence.refresh();
  figures.bytes += chunk.length;
  const bytes = c.held.length > 0 ? Buffer.concat([c.held, chunk]) : chunk;
  let start = 0;
  for (let end = bytes.indexOf(LF); end !== -1; end = bytes.indexOf(LF, start)) {
    takeLine(c, bytes.subarray(start, end), arrived);
    start = end + 1;
  }
  c.held = bytes.subarray(start);
}

/**
 * @param {Connection} c
 * @param {Buffer} line
 * @param {bigint} arrived
 */
function takeLine(c, line, arrived) {
  const kind = classify(c, line);
  if (kind === "fault") die(line.toString());
  if (kind === "gap") {
    figures.gaps++;
    return;
  }
  if (kind === "opened" || kind === "hello" || kind === "watching" || kind === "pong") {
    if (c.wanted === "until_seq") c.untilSeq = JSON.parse(line.toString()).last_seq;
    if (c.wanted === "watching") c.seq = JSON.parse(line.toString()).last_seq;
    if (kind === c.wanted) c.done();
    return;
  }
  figures.frames++;
  if (figures.firstFrame === 0n) figures.firstFrame = arrived;
  checkSeq(c, line);
  if (kind === "delta") {
    figures.deltas++;
    if (figures.firstDelta === 0n) figures.firstDelta = arrived;
    if (isTimed) takeSample(line, arrived);
  }
  if (kind === "result") figures.results++;
  if (kind === c.wanted || (c.untilSeq > 0 && c.seq >= c.untilSeq)) c.done();
}

/**
 * @param {Connection} c
 * @param {Buffer} line
 */
function classify(c, line) {
  if (isAt(line, c.markAt, DELTA)) return "delta";
  for (const [kind, mark] of Object.entries(MARKS)) {
    const at = line.indexOf(mark);
    if (at === -1) continue;
    if (kind === "delta") c.markAt = at;
    return kind;
  }
  return "other";
}

/**
 * @param {Buffer} line
 * @param {number} at
 * @param {Buffer} needle
 */
function isAt(line, at, needle) {
  if (at === 0) return false;
  for (let i = 0; i < needle.length; i++) if (line[at + i] !== needle[i]) return false;
  return true;
}

/**
 * @param {Connection} c
 * @param {Buffer} line
 */
function checkSeq(c, line) {
  if (!isAt(line, c.seqAt, SEQ)) {
    const at = line.indexOf(SEQ);
    if (at === -1) {
      figures.unnumbered++;
      return;
    }
    c.seqAt = at;
  }
  let seq = 0;
  for (let i = c.seqAt + SEQ.length; ; i++) {
    const digit = (line[i] ?? 0) - 0x30;
    if (digit < 0 || digit > 9) break;
    seq = seq * 10 + digit;
  }
  if (seq <= c.seq) {
    figures.duplicates++;
    return;
  }
  figures.missing += seq - c.seq - 1;
  c.seq = seq;
}

/**
 * @param {Buffer} line
 * @param {bigint} arrived
 */
function takeSample(line, arrived) {
  const at = line.indexOf('"@T') + 3;
  if (at > 2) samples.push(Number(arrived - BigInt(line.toString("latin1", at, at + 20))));
}

function report() {
  samples.sort((a, b) => a - b);
  const { started, ended, firstFrame, firstDelta, ...counts } = figures;
  const since = (/** @type {bigint} */ moment) => (moment > started ? Number(moment - started) : 0);
  const point = (/** @type {number} */ share) => samples[Math.floor((samples.length * share) / 100)] ?? 0;
  const figuresOfTime = {
    elapsed_ns: since(ended),
    first_frame_ns: since(firstFrame),
    first_delta_ns: since(firstDelta),
    samples: samples.length,
    p50_ns: point(50),
    p99_ns: point(99),
  };
  console.log(JSON.stringify({ ...counts, ...figuresOfTime }));
}
