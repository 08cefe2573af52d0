// Everything a bench run creates: one temp directory and its child processes. close() removes both, and so does any way
// this process can exit on its own, Ctrl-C included.
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { descendantsOf, IS_LINUX } from "./proc.mjs";

const TMPFS = 0x01021994;
const STOP_MS = 10_000;

export class Workbench {
  #children = new Set();
  #directories = 0;

  constructor() {
    // A sync to tmpfs is free and would flatter the durable figures; /var/tmp is on a disk.
    const parent = statfsSync(tmpdir()).type === TMPFS ? "/var/tmp" : tmpdir();
    this.directory = mkdtempSync(join(parent, "blemees-bench-"));
    process.once("exit", () => this.#abandon());
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
      process.once(signal, () => process.exit(signal === "SIGINT" ? 130 : 143));
    }
  }

  /** A new empty directory below the run's own. The name stays short because a socket path has only 107 bytes. */
  makeDirectory(path = join(this.directory, String(++this.#directories))) {
    mkdirSync(path, { mode: 0o700 });
    return path;
  }

  /**
   * @param {string} command
   * @param {readonly string[]} args
   * @param {import("node:child_process").SpawnOptions} options
   */
  start(command, args, options) {
    const child = spawn(command, args, options);
    this.#children.add(child);
    child.once("exit", () => this.#children.delete(child));
    return child;
  }

  /**
   * Sends SIGTERM, waits, then kills; resolves when the process is gone.
   * @param {import("node:child_process").ChildProcess} child
   */
  async stop(child) {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = new Promise((resolve) => child.once("exit", resolve));
    const timer = setTimeout(() => {
      process.stderr.write(`bench: process ${child.pid} ignored SIGTERM for ${STOP_MS / 1000} s; killed\n`);
      child.kill("SIGKILL");
    }, STOP_MS);
    child.stdin?.end();
    child.kill("SIGTERM");
    await gone;
    clearTimeout(timer);
  }

  async close() {
    await Promise.all([...this.#children].map((child) => this.stop(child)));
    this.#removeDirectory();
  }

  /** Nothing can be awaited at exit. Agents outlive a daemon that is killed, so they are killed with it. */
  #abandon() {
    for (const child of this.#children) {
      const below = IS_LINUX && child.pid !== undefined ? descendantsOf(child.pid) : [];
      child.kill("SIGKILL");
      for (const pid of below) kill(pid);
    }
    this.#removeDirectory();
  }

  #removeDirectory() {
    rmSync(this.directory, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** @param {number} pid */
function kill(pid) {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // it has exited
  }
}
