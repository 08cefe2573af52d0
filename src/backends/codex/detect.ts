// Finds the codex program, its version and its protocol, by a handshake rather than by `--version`.

import { waitAtMost } from "../../base/child.ts";
import { FileCache } from "../../base/file-cache.ts";
import { findProgram } from "../../base/find-program.ts";
import { type Log, silentLog } from "../../base/log.ts";
import { defined } from "../../base/values.ts";
import type { Environment } from "../types.ts";
import { readVersion, startAppServer } from "./app-server/process.ts";
import { buildProcessEnvironment } from "./environment.ts";
import { readVersion as readMcpVersion, startMcpServer } from "./mcp-server/process.ts";
import { findNativeProgram } from "./native.ts";
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
/** The newest first. */
const TRANSPORTS: readonly Transport[] = ["app-server", "mcp-server"];

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
    return found === undefined ? undefined : findNativeProgram(found);
  }

  program(command: string): CodexProgram {
    const { env, maxLineBytes, log } = this.#options;
    return { command, env, maxLineBytes, ...defined({ log }) };
  }

  async #ask(path: string): Promise<Detected> {
    const { transport } = this.#options;
    const program = this.program(path);
    for (const candidate of transport === "auto" ? TRANSPORTS : [transport]) {
      const version = await askVersion(program, candidate);
      if (version !== undefined) return { path, version, transport: candidate };
    }
    throw new Error(`${path} does not speak a known protocol`);
  }
}

/** Undefined if it has no such subcommand, or did not answer in time. Never throws; leaves no process. */
export async function askVersion(program: CodexProgram, transport: Transport): Promise<string | undefined> {
  const { command, maxLineBytes, log = silentLog } = program;
  const order = { command, args: [transport], env: buildProcessEnvironment(program.env, {}) };
  const parts = { maxLineBytes, log, handshakeMs: LIMIT_MS };
  try {
    if (transport === "mcp-server") {
      const server = await startMcpServer({ ...order, ...parts });
      await server.stop("now");
      return readMcpVersion(server);
    }
    const server = await startAppServer({ ...order, ...parts });
    await waitAtMost(LIMIT_MS, server.stop("finish"));
    return readVersion(server);
  } catch {
    return undefined; // another transport may work
  }
}
