// Finds the codex program, its version and its protocol, by a handshake rather than by `--version`.

import { waitAtMost } from "../../base/child.ts";
import { FileCache } from "../../base/file-cache.ts";
import { type Log, silentLog } from "../../base/log.ts";
import { defined } from "../../base/values.ts";
import { findProgram } from "../find-program.ts";
import type { Environment } from "../types.ts";
import { type AppServer, readVersion, startAppServer } from "./app-server/process.ts";
import { processEnvironment } from "./environment.ts";
import { detectMcp } from "./mcp-server/detect.ts";
import { nativeProgram } from "./native.ts";
import type { CodexProgram, Transport } from "./program.ts";

export interface Detected {
  /** The program to start. */
  path: string;
  version: string;
  transport: Transport;
}

export interface DetectorOptions {
  bin: string;
  env: Environment;
  transport: "auto" | Transport;
  maxLineBytes: number;
  log?: Log;
}

const LIMIT_MS = 5000;

export class CodexDetector {
  readonly #options: DetectorOptions;
  readonly #cache = new FileCache<Detected>();
  #transport: Transport | undefined;

  constructor(options: DetectorOptions) {
    this.#options = options;
    if (options.transport !== "auto") this.#transport = options.transport;
  }

  /** Undefined while unknown. */
  get transport(): Transport | undefined {
    return this.#transport;
  }

  /** Undefined if there is no such program or it supports no protocol of ours. Never throws; leaves no process. */
  async detect(): Promise<Detected | undefined> {
    const path = await this.find();
    if (path === undefined) return undefined;
    const detected = await this.#cache.get(path, () => this.#ask(path)).catch(() => undefined);
    if (detected !== undefined) this.#transport = detected.transport;
    return detected;
  }

  /** The program itself, whatever it supports. */
  async find(): Promise<string | undefined> {
    const found = await findProgram(this.#options.bin, this.#options.env).catch(() => undefined);
    return found === undefined ? undefined : nativeProgram(found);
  }

  program(command: string): CodexProgram {
    const { env, maxLineBytes, log } = this.#options;
    return { command, env, maxLineBytes, ...defined({ log }) };
  }

  async #ask(path: string): Promise<Detected> {
    const { transport } = this.#options;
    const program = this.program(path);
    if (transport !== "mcp-server") {
      const version = await askAppServer(program);
      if (version !== undefined) return { path, version, transport: "app-server" };
    }
    const version = transport === "app-server" ? undefined : await detectMcp(program);
    if (version === undefined) throw new Error(`${path} does not speak a known protocol`);
    return { path, version, transport: "mcp-server" };
  }
}

async function askAppServer(program: CodexProgram): Promise<string | undefined> {
  const { command, maxLineBytes, log = silentLog } = program;
  const env = processEnvironment(program.env, {});
  const order = { command, args: ["app-server"], env, maxLineBytes, log, handshakeMs: LIMIT_MS };
  let server: AppServer | undefined;
  try {
    server = await startAppServer(order);
    return readVersion(server);
  } catch {
    return undefined; // no such subcommand, or it failed: the other transport may work
  } finally {
    await waitAtMost(LIMIT_MS, server?.stop("finish") ?? Promise.resolve());
  }
}
