// The programs that are measured: the relay, and the daemon with a store. A target is a running one that answers hello.
import { once } from "node:events";
import { join } from "node:path";
import { isAnswering } from "./hello.mjs";

const RELAY = join(import.meta.dirname, "relay.mjs");
const START_MS = 20_000;

/**
 * @typedef {object} Program
 * @property {"relay" | "memory" | "durable"} name
 * @property {string[]} command
 * @property {NodeJS.ProcessEnv} env
 * @property {string} socketPath
 *
 * @typedef {object} Target
 * @property {Program["name"]} name
 * @property {number} pid
 * @property {string} socketPath
 * @property {() => Promise<void>} stop
 *
 * @typedef {object} Extra
 * @property {string[]} [nodeArgs]
 * @property {string} [directory] holds socket and state; new if absent
 * @property {Record<string, string | undefined>} [env]
 */

/**
 * @param {import("./plan.mjs").Context} context
 * @returns {Program}
 */
export function relayProgram({ bench, tools }) {
  const socketPath = join(bench.makeDirectory(), "s");
  const command = [process.execPath, RELAY, socketPath, tools.agent];
  return { name: "relay", command, env: cleanEnvironment(), socketPath };
}

/**
 * @param {import("./plan.mjs").Context} context
 * @param {"memory" | "durable"} store
 * @param {Extra} [extra]
 * @returns {Program}
 */
export function daemonProgram({ bench, tools, daemon }, store, extra = {}) {
  const { nodeArgs = [], directory = bench.makeDirectory(), env = {} } = extra;
  const socketPath = join(directory, "s");
  return {
    name: store,
    // As users start it: the file runs itself, with its own flags for Node. A profile brings its own flags.
    command: nodeArgs.length === 0 ? [daemon] : [process.execPath, ...nodeArgs, daemon],
    env: {
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
    },
    socketPath,
  };
}

/** @param {import("./plan.mjs").Context} context */
export function startRelay(context) {
  return startTarget(context.bench, relayProgram(context));
}

/**
 * @param {import("./plan.mjs").Context} context
 * @param {"memory" | "durable"} store
 * @param {Extra} [extra]
 */
export function startDaemon(context, store, extra) {
  return startTarget(context.bench, daemonProgram(context, store, extra));
}

/** The user's own settings must not affect the measurement. */
function cleanEnvironment() {
  return Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !name.startsWith("BLEMEES") && name !== "NODE_OPTIONS"),
  );
}

/**
 * @param {import("./workbench.mjs").Workbench} bench
 * @param {Program} program
 * @returns {Promise<Target>}
 */
async function startTarget(bench, { name, command: [file = "", ...args], env, socketPath }) {
  const startedAt = performance.now();
  const child = bench.start(file, args, { env, stdio: ["pipe", "ignore", "inherit"] });
  while (!(await isAnswering(socketPath))) {
    if (child.exitCode !== null || child.signalCode !== null)
      throw new Error(`${name} exited with ${child.exitCode ?? child.signalCode} before it listened`);
    if (performance.now() - startedAt > START_MS) throw new Error(`${name} does not answer on ${socketPath}`);
  }
  return { name, pid: child.pid ?? 0, socketPath, stop: () => bench.stop(child) };
}

/**
 * Starts a program, waits for its hello_ack or its exit, and ends it.
 * @param {import("./plan.mjs").Context} context
 * @param {Pick<Program, "command" | "env"> & { socketPath?: string, cwd?: string }} program
 * @returns {Promise<{ wallMs: number, cpuMs: number }>} cpuMs is NaN without a C compiler
 */
export async function timeProgram({ bench, tools }, { command, env, socketPath, cwd }) {
  const until = socketPath === undefined ? ["exit"] : ["hello", socketPath];
  const child = bench.start(tools.timer, [...until, ...command], {
    env,
    cwd,
    stdio: ["pipe", "pipe", "inherit"],
  });
  let text = "";
  child.stdout.on("data", (/** @type {Buffer} */ chunk) => {
    text += chunk;
  });
  const [code] = await once(child, "close");
  if (code !== 0) throw new Error(`${command.join(" ")}: see its error on stderr`);
  const { wall_ns, cpu_ns } = JSON.parse(text);
  return { wallMs: wall_ns / 1e6, cpuMs: (cpu_ns ?? Number.NaN) / 1e6 };
}
