// The processes that are measured: the relay, and the daemon with a store. A target is a running process that answers
// hello.
import { once } from "node:events";
import { connect } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const RELAY = join(import.meta.dirname, "relay.mjs");
const START_MS = 10_000;
const HELLO = '{"type":"blemeesd.hello","client":"bench/1","protocol":"blemees/2"}\n';

/**
 * @typedef {object} Target
 * @property {"relay" | "memory" | "durable"} name
 * @property {number} pid
 * @property {string} socketPath
 * @property {number} startMs from spawn to hello_ack
 * @property {() => Promise<void>} stop
 */

/** @param {import("./plan.mjs").Context} context */
export function startRelay({ bench, tools }) {
  const socketPath = join(bench.makeDirectory(), "s");
  return startTarget(
    bench,
    "relay",
    socketPath,
    [process.execPath, RELAY, socketPath, tools.agent],
    cleanEnvironment(),
  );
}

/**
 * @param {import("./plan.mjs").Context} context
 * @param {"memory" | "durable"} store
 * @param {{ nodeArgs?: string[], directory?: string, env?: Record<string, string> }} [extra] `directory` holds
 *   socket and state; new if absent
 */
export function startDaemon(
  { bench, tools, daemon },
  store,
  { nodeArgs = [], directory = bench.makeDirectory(), env = {} } = {},
) {
  const socketPath = join(directory, "s");
  // As users start it: the file runs itself, with its own flags for Node. A profile brings its own flags.
  const command = nodeArgs.length === 0 ? [daemon] : [process.execPath, ...nodeArgs, daemon];
  return startTarget(bench, store, socketPath, command, {
    ...cleanEnvironment(),
    HOME: directory,
    XDG_CONFIG_HOME: directory,
    XDG_RUNTIME_DIR: directory,
    XDG_STATE_HOME: directory,
    BLEMEESD_SOCKET: socketPath,
    BLEMEESD_CLAUDE: tools.agent,
    BLEMEESD_STORE: store === "durable" ? "sqlite" : "memory",
    BLEMEESD_LOG_LEVEL: "silent",
    ...env,
  });
}

/** The user's own settings must not affect the measurement. */
function cleanEnvironment() {
  return Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !name.startsWith("BLEMEES") && name !== "NODE_OPTIONS"),
  );
}

/**
 * @param {import("./workbench.mjs").Workbench} bench
 * @param {Target["name"]} name
 * @param {string} socketPath
 * @param {string[]} command
 * @param {NodeJS.ProcessEnv} env
 * @returns {Promise<Target>}
 */
async function startTarget(bench, name, socketPath, [program = "", ...args], env) {
  const startedAt = performance.now();
  const child = bench.start(program, args, { env, stdio: ["pipe", "ignore", "inherit"] });
  const isAlive = () => child.exitCode === null && child.signalCode === null;
  while (!(await isAnswering(socketPath))) {
    if (!isAlive())
      throw new Error(`${name} exited with ${child.exitCode ?? child.signalCode} before it listened`);
    if (performance.now() - startedAt > START_MS) throw new Error(`${name} does not answer on ${socketPath}`);
    await sleep(1);
  }
  const startMs = performance.now() - startedAt;
  return { name, pid: child.pid ?? 0, socketPath, startMs, stop: () => bench.stop(child) };
}

/** @param {string} socketPath */
async function isAnswering(socketPath) {
  const socket = connect(socketPath);
  try {
    await once(socket, "connect");
    socket.write(HELLO);
    const [chunk] = await once(socket, "data");
    return chunk.includes('"blemeesd.hello_ack"');
  } catch {
    return false; // ENOENT or ECONNREFUSED: not listening yet; the caller watches the clock and the process
  } finally {
    socket.destroy();
  }
}
