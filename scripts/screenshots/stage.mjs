// Sets up the screenshots: a real daemon in its own directories, with a simulated clock and the sessions of scenes.mjs.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Http } from "../bench/http.mjs";
import { root } from "../prepare.mjs";
import { pass, readMoved, writeMoved } from "./moved.mjs";
import { SCENES } from "./scenes.mjs";

const PATIENCE_MS = 20_000;
/** The start of the simulated clock: every picture shows the times of this day. */
const BEGIN_MS = Date.UTC(2026, 2, 10, 6, 40);

/**
 * @typedef {object} Stage
 * @property {string} cwd
 * @property {Record<string, string>} env for programs that talk to its daemon
 * @property {Http} http
 * @property {string} clock the file
 */

/** @param {readonly import("./scenes.mjs").Scene[]} [scenes] */
export async function openStage(scenes = SCENES) {
  const home = realpathSync(mkdtempSync(join(tmpdir(), "blemees-")));
  for (const name of ["shop", "run", "state", "config"]) mkdirSync(join(home, name), { mode: 0o700 });
  const clock = join(home, "clock");
  writeMoved(clock, BEGIN_MS - Date.now());
  const env = {
    PATH: process.env["PATH"] ?? "",
    HOME: home,
    TZ: "UTC",
    LANG: "C.UTF-8",
    XDG_RUNTIME_DIR: join(home, "run"),
    XDG_STATE_HOME: join(home, "state"),
    XDG_CONFIG_HOME: join(home, "config"),
    STAGE_CLOCK: clock,
  };
  const daemon = startDaemon(env);
  const http = new Http(join(home, "run/blemeesd.sock"));
  const close = async () => {
    http.close();
    daemon.kill("SIGTERM");
    if (daemon.exitCode === null && daemon.signalCode === null) await once(daemon, "exit");
    rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  };
  const stage = { cwd: join(home, "shop"), env, http, clock };
  try {
    await until("the daemon answers", () => ask(http, "GET", "/status").catch(() => undefined));
    const ids = await play(stage, scenes);
    return { ...stage, ids, pageClock: () => pageClock(readMoved(clock) ?? 0), close };
  } catch (error) {
    await close();
    throw error;
  }
}

/**
 * For a page, before its own scripts: the simulated clock from now on.
 * @param {number} movedMs
 */
function pageClock(movedMs) {
  return `{
    const RealDate = Date;
    const now = () => RealDate.now() + ${movedMs};
    globalThis.Date = new Proxy(RealDate, {
      construct: (target, args, self) => Reflect.construct(target, args.length === 0 ? [now()] : args, self),
      get: (target, key) => (key === "now" ? now : Reflect.get(target, key)),
    });
  }`;
}

/** @param {Record<string, string>} env */
function startDaemon(env) {
  const flags = ["--import", join(import.meta.dirname, "clock.mjs")];
  return spawn(process.execPath, [...flags, join(root, "dist/blemeesd.js")], {
    env: {
      ...env,
      BLEMEESD_CLAUDE: join(import.meta.dirname, "agent.mjs"),
      BLEMEESD_CODEX: "/nonexistent",
      BLEMEESD_SHUTDOWN_GRACE: "0",
      BLEMEESD_STALL_S: "0",
      // An hour passes at once here; no session may be reaped because of it.
      BLEMEESD_IDLE_TIMEOUT: "1000000",
      BLEMEESD_LOG_LEVEL: "error",
    },
    stdio: ["ignore", "ignore", "inherit"],
  });
}

/**
 * @param {Stage} stage
 * @param {readonly import("./scenes.mjs").Scene[]} scenes
 * @returns {Promise<ReadonlyMap<string, string>>} the sessions' ids by their names
 */
async function play({ http, cwd, clock }, scenes) {
  /** @type {Map<string, string>} */
  const ids = new Map();
  for (const scene of scenes) {
    const { name, backend = "claude", parent, text, after = 0, answer, waits = 0 } = scene;
    pass(clock, after * 60);
    const known = ids.get(name);
    const session_id = known ?? `00000000-0000-4000-8000-${String(ids.size + 1).padStart(12, "0")}`;
    const family = parent === undefined ? {} : { parent: ids.get(parent), wakes_parent: false };
    const started = { session_id, backend, name, prompt: text, cwd, ...family };
    if (known === undefined) await ask(http, "POST", "/sessions", started);
    else await ask(http, "POST", `/sessions/${session_id}/input`, { text });
    ids.set(name, session_id);
    if (answer !== undefined) {
      await untilState(http, session_id, "asks");
      pass(clock, waits);
      await answerAll(http, session_id, answer);
    }
    await untilState(http, session_id, scene.until ?? "idle");
  }
  return ids;
}

/**
 * @param {Http} http
 * @param {string} session_id
 * @param {string} decision
 */
async function answerAll(http, session_id, decision) {
  const { requests } = await ask(http, "GET", `/sessions/${session_id}/requests`);
  for (const { request_id, shown_hash } of requests) {
    const path = `/sessions/${session_id}/requests/${request_id}/respond`;
    await ask(http, "POST", path, { decision, shown_hash, source: "tui" });
  }
}

/**
 * @param {Http} http
 * @param {string} session_id
 * @param {"idle" | "asks" | "works"} state
 */
async function untilState(http, session_id, state) {
  await until(`${session_id} ${state}`, async () => {
    const { turn, pending_requests, turns, last_seq } = await ask(http, "GET", `/sessions/${session_id}`);
    if (state === "asks") return pending_requests > 0 || undefined;
    if (state === "works") return (turn !== undefined && last_seq > WORK_EVENTS) || undefined;
    return (turn === undefined && turns > 0 && pending_requests === 0) || undefined;
  });
}
/** The number of events after which a turn shows something. */
const WORK_EVENTS = 12;

/**
 * @template T
 * @param {string} what
 * @param {() => Promise<T | undefined>} look
 * @returns {Promise<T>}
 */
async function until(what, look) {
  for (const endAt = performance.now() + PATIENCE_MS; performance.now() < endAt; await sleep(20)) {
    const found = await look();
    if (found !== undefined) return found;
  }
  throw new Error(`timed out: ${what}`);
}

/**
 * @param {Http} http
 * @param {string} method
 * @param {string} path
 * @param {object} [body]
 * @returns {Promise<any>}
 */
async function ask(http, method, path, body) {
  return JSON.parse(await http.ask(method, path, body));
}
