// The built daemon in its own directory, for tests that need the real one.
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "../../src/client/index.ts";
import { CACHE_HOME } from "../support/root.ts";

const PROGRAM = "dist/blemeesd.js";
export const isBuilt = existsSync(PROGRAM);

export class DaemonProcess {
  readonly home: string;
  readonly socket: string;
  /** For programs that must find this daemon on their own. */
  readonly env: Record<string, string>;
  readonly #process: ChildProcess;

  constructor() {
    this.home = mkdtempSync(join(tmpdir(), "bl-"));
    const runtime = join(this.home, "run");
    mkdirSync(runtime, { mode: 0o700 });
    this.socket = join(runtime, "blemeesd.sock");
    this.env = {
      PATH: process.env["PATH"] ?? "",
      HOME: this.home,
      XDG_CACHE_HOME: CACHE_HOME,
      XDG_RUNTIME_DIR: runtime,
      XDG_STATE_HOME: join(this.home, "state"),
      BLEMEESD_SHUTDOWN_GRACE: "0",
    };
    this.#process = spawn(process.execPath, [PROGRAM], { env: this.env, stdio: "ignore" });
  }

  static async start(): Promise<DaemonProcess> {
    const daemon = new DaemonProcess();
    await daemon.#untilReady();
    return daemon;
  }

  async stop(): Promise<void> {
    const gone = new Promise((resolve) => this.#process.once("exit", resolve));
    if (this.#process.kill("SIGTERM")) await gone;
    rmSync(this.home, { recursive: true, force: true });
  }

  /** It is ready when it answers. */
  async #untilReady(): Promise<void> {
    for (;;) {
      const client = await connect({ socket: this.socket }).catch(() => undefined);
      if (client !== undefined) return client.close();
      if (this.#process.exitCode !== null) throw new Error("the daemon did not start");
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }
}
