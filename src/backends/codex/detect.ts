// Which codex is there and how it is spoken to: found out by the handshake, never by `--version`. Asked once per file:
// the answer is kept until the file changes.
import { stat } from "node:fs/promises";
import { within } from "../../base/child.ts";
import { type Log, silentLog } from "../../base/log.ts";
import { findProgram } from "../find-program.ts";
import { type AppServer, startAppServer, versionOf } from "./app-server/process.ts";
import { processEnvironment } from "./environment.ts";
import { detectMcp } from "./mcp-server/detect.ts";
import { nativeProgram } from "./native.ts";
import type { Environment } from "./paths.ts";
import type { CodexProgram, Transport } from "./program.ts";

export interface Detected {
  /** What is started. */
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

export class Detector {
  readonly #options: DetectorOptions;
  #known: { path: string; mtimeMs: number; answer: Promise<Detected | undefined> } | undefined;
  #transport: Transport | undefined;

  constructor(options: DetectorOptions) {
    this.#options = options;
    if (options.transport !== "auto") this.#transport = options.transport;
  }

  /** Undefined while it is not known. */
  get transport(): Transport | undefined {
    return this.#transport;
  }

  /** Undefined when there is no such program or it speaks no protocol of ours. Never throws; leaves no process. */
  async detect(): Promise<Detected | undefined> {
    const path = await this.find();
    if (path === undefined) return undefined;
    const mtimeMs = (await stat(path).catch(() => undefined))?.mtimeMs ?? 0;
    if (this.#known?.path === path && this.#known.mtimeMs === mtimeMs) return this.#known.answer;
    const answer = this.#ask(path).catch(() => undefined);
    this.#known = { path, mtimeMs, answer };
    const detected = await answer;
    // A failure (a slow disk, too many processes) is not remembered.
    if (detected === undefined) this.#known = undefined;
    else this.#transport = detected.transport;
    return detected;
  }

  /** The program itself, whatever it can do. */
  async find(): Promise<string | undefined> {
    const found = await findProgram(this.#options.bin, this.#options.env).catch(() => undefined);
    return found === undefined ? undefined : nativeProgram(found);
  }

  program(command: string): CodexProgram {
    const { env, maxLineBytes, log } = this.#options;
    return { command, env, maxLineBytes, ...(log === undefined ? {} : { log }) };
  }

  async #ask(path: string): Promise<Detected | undefined> {
    const { transport } = this.#options;
    const program = this.program(path);
    if (transport !== "mcp-server") {
      const version = await askAppServer(program);
      if (version !== undefined) return { path, version, transport: "app-server" };
    }
    if (transport === "app-server") return undefined;
    const version = await detectMcp(program);
    return version === undefined ? undefined : { path, version, transport: "mcp-server" };
  }
}

async function askAppServer(program: CodexProgram): Promise<string | undefined> {
  const { command, maxLineBytes, log = silentLog } = program;
  const env = processEnvironment(program.env, {});
  const order = { command, args: ["app-server"], env, maxLineBytes, log, handshakeMs: LIMIT_MS };
  let server: AppServer | undefined;
  try {
    server = await startAppServer(order);
    return versionOf(server);
  } catch {
    return undefined; // no such subcommand, or it broke: the other transport may work
  } finally {
    await within(LIMIT_MS, server?.stop("finish") ?? Promise.resolve());
  }
}
