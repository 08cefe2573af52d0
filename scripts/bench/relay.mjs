// The baseline: the least a Node program can do and still relay between agents and clients. Per chunk it splits on
// 0x0A, parses, sets type, session_id and seq, stringifies, and writes once. No sessions, no log, no checks. What the
// daemon costs beyond this is the price of its guarantees.
//   node relay.mjs SOCKET AGENT      exits when its stdin ends
import { spawn } from "node:child_process";
import { createServer } from "node:net";

const LF = 0x0a;
const TYPES = { stream_event: "agent.delta", result: "agent.result", system: "agent.system_init" };
const [socketPath, agentPath] = process.argv.slice(2);
if (socketPath === undefined || agentPath === undefined) throw new Error("usage: relay.mjs SOCKET AGENT");

const server = createServer(serve).listen(socketPath);
process.stdin.on("end", () => process.exit(0)).resume();
process.on("SIGTERM", () => process.exit(0));
server.on("error", (error) => {
  throw error;
});

/** @param {import("node:net").Socket} socket */
function serve(socket) {
  /** @type {Map<string, import("node:child_process").ChildProcess>} */
  const agents = new Map();
  onLines(socket, (text) => {
    for (const line of text.split("\n")) answer(JSON.parse(line), agents, socket);
  });
  socket.on("error", () => socket.destroy());
  socket.on("close", () => {
    for (const agent of agents.values()) agent.kill();
  });
}

/**
 * @param {{ type: string, id?: string, session_id: string, message?: unknown }} frame
 * @param {Map<string, import("node:child_process").ChildProcess>} agents
 * @param {import("node:net").Socket} socket
 */
function answer(frame, agents, socket) {
  const { type, session_id } = frame;
  if (type === "blemeesd.hello") {
    socket.write(
      '{"type":"blemeesd.hello_ack","daemon":"relay/1","protocol":"blemees/2","pid":1,"backends":{}}\n',
    );
  } else if (type === "blemeesd.ping") {
    socket.write('{"type":"blemeesd.pong"}\n');
  } else if (type === "blemeesd.open") {
    agents.set(session_id, startAgent(session_id, socket));
    socket.write(`${JSON.stringify({ type: "blemeesd.opened", id: frame.id, session_id, last_seq: 0 })}\n`);
  } else if (type === "agent.user") {
    const line = JSON.stringify({ type: "user", message: frame.message, session_id });
    agents.get(session_id)?.stdin?.write(`${line}\n`);
  }
}

/**
 * @param {string} session_id
 * @param {import("node:net").Socket} socket
 */
function startAgent(session_id, socket) {
  const agent = spawn(/** @type {string} */ (agentPath), ["-p", "--session-id", session_id], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  agent.stdin.on("error", () => {}); // it exited; its stdout shows it
  let seq = 0;
  let isPaused = false;
  onLines(agent.stdout, (text) => {
    let out = "";
    let start = 0;
    for (;;) {
      const at = text.indexOf("\n", start);
      const event = JSON.parse(at === -1 ? text.slice(start) : text.slice(start, at));
      event.type = TYPES[/** @type {keyof typeof TYPES} */ (event.type)];
      event.session_id = session_id;
      event.seq = ++seq;
      out += `${JSON.stringify(event)}\n`;
      if (at === -1) break;
      start = at + 1;
    }
    if (socket.destroyed || socket.write(out) || isPaused) return;
    isPaused = true;
    agent.stdout.pause();
    socket.once("drain", () => {
      isPaused = false;
      agent.stdout.resume();
    });
  });
  return agent;
}

/**
 * Calls back once per chunk with all its complete lines, decoded at once, without the last newline.
 * @param {import("node:stream").Readable} stream
 * @param {(text: string) => void} take
 */
function onLines(stream, take) {
  /** @type {Buffer | undefined} */
  let tail;
  stream.on("data", (/** @type {Buffer} */ chunk) => {
    const bytes = tail === undefined ? chunk : Buffer.concat([tail, chunk]);
    const end = bytes.lastIndexOf(LF);
    tail = end + 1 < bytes.length ? bytes.subarray(end + 1) : undefined;
    if (end !== -1) take(bytes.toString("utf8", 0, end));
  });
}
