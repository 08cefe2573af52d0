// A place to attack: a workspace, things next to it that must stay untouched, hidden ones, and servers to reach.

import { type ChildProcess, spawn } from "node:child_process";
import {
  chmodSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSandbox } from "../../../src/runtime/sandbox/index.ts";
import { describeHost, findLauncher } from "../../../src/runtime/sandbox/probe.ts";
import type { CommandResult, Sandbox, SandboxConfig } from "../../../src/runtime/sandbox/types.ts";
import { SANDBOX } from "../../support/plain-sandbox.ts";

/** What a machine can lack. Anything else that keeps commands from being held is a fault of ours. */
const LACKING =
  /not installed|kernel refuses|container|no sandbox for|does not support the architecture|no seccomp/;

/** Undefined: commands can be held here. Where they must be (CI), not being able to is a failure. */
export async function whyNoSandbox(): Promise<string | undefined> {
  const found = await findLauncher(describeHost());
  if ("launcher" in found) return undefined;
  if (!LACKING.test(found.problem)) throw new Error(found.problem);
  if (process.env["CI_REQUIRE_SANDBOX"] === "1")
    throw new Error(`CI_REQUIRE_SANDBOX is set: ${found.problem}`);
  return found.problem;
}

/** A shell condition: a `sleep` with this argument runs. Neither the shell that asks nor the search counts. */
export function isAsleep(seconds: number): string {
  const digits = String(seconds);
  return `grep -zqsx '${digits.slice(0, -1)}[${digits.slice(-1)}]' /proc/[0-9]*/cmdline`;
}

/** The processes outside that run `sleep` with this argument. */
export function asleep(seconds: number): string[] {
  return readdirSync("/proc").filter((name) => {
    try {
      return /^\d+$/.test(name) && readFileSync(`/proc/${name}/cmdline`, "utf8") === `sleep\0${seconds}\0`;
    } catch {
      return false; // it ended while we looked
    }
  });
}

export interface Ran extends CommandResult {
  output: string;
}

export class Ground {
  // Not below /tmp: a private /tmp would hide what is to be held by other means.
  readonly base = realpathSync(
    mkdtempSync(join(process.platform === "linux" ? "/var/tmp" : tmpdir(), "demian-")),
  );
  readonly workspace = join(this.base, "workspace");
  readonly outside = join(this.base, "outside");
  readonly state = join(this.base, "state");
  readonly settings = join(this.base, "settings.json");
  readonly abstractName = `demian-escape-${process.pid}-${Math.floor(performance.now() * 1000)}`;
  readonly #servers: Server[] = [];
  readonly #processes: ChildProcess[] = [];
  #bystander: ChildProcess | undefined;
  port = 0;

  /** Restores everything after an attack. */
  lay(): void {
    for (const path of [this.workspace, this.outside]) {
      rmSync(path, { recursive: true, force: true });
      mkdirSync(path);
    }
    mkdirSync(this.state, { recursive: true });
    const files: Record<string, string> = {
      [join(this.state, "secret")]: "TOPSECRET\n",
      [this.settings]: "TOPSECRET\n",
      [join(this.outside, "victim")]: "untouched\n",
      [join(this.outside, "secret")]: "TOPSECRET\n",
    };
    const inWorkspace: Record<string, string> = {
      "README.md": "hello\n",
      ".env": "KEY=TOPSECRET\n",
      "packages/a/.env.local": "KEY=TOPSECRET\n",
      ".env.example": "KEY=\n",
      ".envrc": "export KEY=TOPSECRET\n",
      "packages/lib/index.js": "",
      ".git/HEAD": "ref: refs/heads/main\n",
      ".git/config": "[core]\n",
      ".git/hooks/pre-commit.sample": "#!/bin/sh\n",
      "packages/a/.git/config": "[core]\n",
      ".demian/config.json": "{}\n",
    };
    for (const [path, text] of Object.entries(inWorkspace)) {
      mkdirSync(join(this.workspace, path, ".."), { recursive: true });
      files[join(this.workspace, path)] = text;
    }
    for (const [path, text] of Object.entries(files)) writeFileSync(path, text);
    for (const name of ["packages/settings", "packages/lib/x"]) {
      linkSync(join(this.workspace, ".env"), join(this.workspace, name));
    }
    chmodSync(join(this.outside, "victim"), 0o644);
  }

  /** Servers that answer ESCAPED, and a process that must not be killed. */
  async listen(): Promise<void> {
    this.lay();
    for (const path of [join(this.state, "daemon.sock"), join(this.base, "open.sock")]) {
      await this.#serve((server, ready) => server.listen(path, ready));
    }
    await this.#serveAbstract();
    const tcp = await this.#serve((server, ready) => server.listen(0, "127.0.0.1", ready));
    const address = tcp.address();
    this.port = typeof address === "object" && address !== null ? address.port : 0;
    this.#bystander = spawn("sleep", ["86399"], { stdio: "ignore" });
    this.#processes.push(this.#bystander);
  }

  /** In Perl: Node 20 has no names outside the file system. */
  async #serveAbstract(): Promise<void> {
    const address = `pack("S x a*", AF_UNIX, "${this.abstractName}")`;
    const script = `$| = 1; socket(L, AF_UNIX, SOCK_STREAM, 0); bind(L, ${address}); listen(L, 5); print "ready\n"; while (accept(C, L)) { print C "ESCAPED\n"; close C }`;
    const server = spawn("perl", ["-MSocket", "-e", script], { stdio: ["ignore", "pipe", "ignore"] });
    this.#processes.push(server);
    await new Promise((resolve) => server.stdout.once("data", resolve));
  }

  get bystander(): number {
    return this.#bystander?.pid ?? 0;
  }

  async #serve(listen: (server: Server, ready: () => void) => void): Promise<Server> {
    const server = createServer((socket) => {
      socket.on("error", () => undefined);
      socket.end("ESCAPED\n");
    });
    this.#servers.push(server);
    await new Promise<void>((resolve) => listen(server, resolve));
    return server;
  }

  sandbox(config: Partial<SandboxConfig> = {}): Promise<Sandbox> {
    return createSandbox(
      { ...SANDBOX, ...config },
      { root: this.workspace, hide: [this.state, this.settings] },
    );
  }

  async close(): Promise<void> {
    for (const process of this.#processes) process.kill("SIGKILL");
    await Promise.all(this.#servers.map((server) => new Promise((resolve) => server.close(resolve))));
    rmSync(this.base, { recursive: true, force: true });
  }
}

export async function runIn(
  sandbox: Sandbox,
  cwd: string,
  command: string,
  more: { timeoutMs?: number; signal?: AbortSignal; env?: Record<string, string> } = {},
): Promise<Ran> {
  const chunks: Buffer[] = [];
  const result = await sandbox.run({
    ...{ command, cwd, timeoutMs: more.timeoutMs ?? 10_000 },
    env: more.env ?? { PATH: process.env["PATH"] ?? "", HOME: process.env["HOME"] ?? "/" },
    signal: more.signal ?? new AbortController().signal,
    output: (chunk) => chunks.push(chunk),
  });
  return { ...result, output: Buffer.concat(chunks).toString("utf8") };
}
