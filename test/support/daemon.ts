// A real daemon for a test: the built program in its own temporary directories, stopped and checked afterwards.

import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { RawClient } from "./raw-client.ts";
import { CACHE_HOME, ROOT } from "./root.ts";

const PROGRAM = join(ROOT, "dist/blemeesd.js");
export const FAKE_CLAUDE = join(ROOT, "test/fakes/fake-claude.sh");

/** Where sessions without a directory work: not in this repository, whose files would be recorded at every turn. */
const NOWHERE = join(tmpdir(), "blemees-nowhere");

/** Running daemons by home. One that took over an earlier daemon's home still writes there when the earlier one is closed. */
const running = new Map<string, number>();

export interface DaemonOptions {
  env?: Record<string, string>;
  args?: string[];
  /** Reuse the directories of an earlier daemon. */
  home?: string;
  /** Instead of the one in dist/. */
  program?: string;
}

/** A daemon that was started and may not listen yet. */
export interface LaunchedDaemon {
  readonly daemon: TestDaemon;
  /** Resolves when its log has this text `count` times; rejects if it ends first. */
  logged(text: string, count?: number): Promise<void>;
}

export interface TestDaemon {
  readonly home: string;
  readonly socket: string;
  readonly pid: number;
  readonly exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  /** Its stderr: the log. */
  log(): string;
  /** A connection that has sent hello. */
  connect(protocol?: string): Promise<RawClient>;
  kill(signal: NodeJS.Signals): Promise<void>;
  /** Stops it gracefully and removes its directories, unless another daemon runs in them. */
  close(): Promise<void>;
}

/** Resolves when the daemon answers on its socket. */
export async function startDaemon(options: DaemonOptions = {}): Promise<TestDaemon> {
  const { daemon } = launchDaemon(options);
  await untilListening(daemon);
  return daemon;
}

export function launchDaemon(options: DaemonOptions = {}): LaunchedDaemon {
  if (!existsSync(PROGRAM)) throw new Error("dist/ is missing: run `npm run build` first");
  const home = options.home ?? mkdtempSync(join(tmpdir(), "blemees-"));
  for (const name of ["run", "state", "config", "claude"])
    mkdirSync(join(home, name), { recursive: true, mode: 0o700 });
  mkdirSync(NOWHERE, { recursive: true });
  const socket = join(home, "run/blemeesd.sock");
  const child = spawn(process.execPath, [options.program ?? PROGRAM, ...(options.args ?? [])], {
    env: {
      PATH: process.env["PATH"] ?? "",
      HOME: home,
      XDG_CACHE_HOME: CACHE_HOME,
      XDG_RUNTIME_DIR: join(home, "run"),
      XDG_STATE_HOME: join(home, "state"),
      XDG_CONFIG_HOME: join(home, "config"),
      CLAUDE_CONFIG_DIR: join(home, "claude"),
      BLEMEESD_CLAUDE: FAKE_CLAUDE,
      BLEMEESD_SHUTDOWN_GRACE: "1",
      ...options.env,
    },
    cwd: NOWHERE,
    stdio: ["ignore", "ignore", "pipe"],
  });
  const path = options.env?.["BLEMEESD_SOCKET"] ?? socket;
  let log = "";
  const watchers = new Set<() => void>();
  child.stderr?.on("data", (chunk: Buffer) => {
    log += chunk.toString();
    for (const look of watchers) look();
  });
  const exited = exitOf(child);
  running.set(home, (running.get(home) ?? 0) + 1);
  void exited.then(() => running.set(home, (running.get(home) ?? 1) - 1));
  const clients: RawClient[] = [];
  const connect = async (protocol = "blemees/2"): Promise<RawClient> => {
    const client = await RawClient.connect(path);
    clients.push(client);
    client.send({ type: "blemeesd.hello", protocol, client: "test/1" });
    await client.next((frame) => frame["type"] === "blemeesd.hello_ack");
    return client;
  };
  const logged = (text: string, count = 1): Promise<void> =>
    new Promise((resolve, reject) => {
      const look = () => {
        if (log.split(text).length <= count) return;
        watchers.delete(look);
        resolve();
      };
      watchers.add(look);
      look();
      void exited.then(() => reject(new Error(`the daemon ended without "${text}" in its log:\n${log}`)));
    });
  const daemon: TestDaemon = {
    home,
    socket: path,
    pid: child.pid ?? -1,
    exited,
    log: () => log,
    connect,
    async kill(signal) {
      child.kill(signal);
      await exited;
    },
    async close() {
      for (const client of clients) client.close();
      child.kill("SIGTERM");
      await exited;
      if (running.get(home) === 0) await removeHome(home);
    },
  };
  return { daemon, logged };
}

function exitOf(child: ChildProcess): TestDaemon["exited"] {
  return new Promise((resolve) => {
    child.once("exit", (code, signal) => resolve({ code, signal }));
  });
}

async function untilListening({ socket, exited, log }: TestDaemon): Promise<void> {
  let isOver = false;
  void exited.then(() => {
    isOver = true;
  });
  for (;;) {
    try {
      (await RawClient.connect(socket)).close();
      return;
    } catch {
      if (isOver) throw new Error(`the daemon ended before it listened:\n${log()}`);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }
}

/** From the beginning each time: a process that is just ending may add a file, which `maxRetries` would not remove. */
async function removeHome(home: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return rmSync(home, { recursive: true, force: true });
    } catch (error) {
      if (attempt === 20) throw error;
      await pause(50 * attempt);
    }
  }
}
