// A new user's machine: sm, claude and codex on the PATH, scripted models, no daemon. sm starts it, and each sm is its
// own process, as from another shell.
import { type ChildProcessByStdio, spawn } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { expect, vi } from "vitest";
import { HttpClient } from "../../../src/client/index.ts";
import type { RequestRow } from "../../../src/protocol/requests.ts";
import type { SessionView } from "../../../src/protocol/views.ts";
import { killLeft } from "../../outlive/proof.ts";
import { PATIENT } from "../../support/patience.ts";
import { ROOT } from "../../support/root.ts";
import { type MockAnthropic, type MockOptions, startMockAnthropic } from "../../tools/mock-anthropic.mjs";
import { codexConfigToml, type MockResponses, startMockResponses } from "../../tools/mock-responses.mjs";
import { claudeEnvironment, claudeProgram, trust } from "../claude/world.ts";
import { codexProgram } from "../codex/world.ts";
import { untilGone } from "../processes.ts";

export interface Ran {
  code: number | null;
  stdout: string;
  stderr: string;
}

export class Machine {
  readonly home: string;
  readonly cwd: string;
  readonly socket: string;
  /** For repeated queries: an sm costs 0.2 s of a core. */
  readonly http: HttpClient;
  readonly env: Readonly<Record<string, string>>;
  readonly anthropic: MockAnthropic;
  readonly responses: MockResponses;
  readonly #started: Running[] = [];

  constructor(home: string, anthropic: MockAnthropic, responses: MockResponses) {
    this.home = home;
    this.cwd = join(home, "project");
    this.socket = join(home, "run/blemeesd.sock");
    this.http = new HttpClient({ socket: this.socket });
    this.anthropic = anthropic;
    this.responses = responses;
    for (const name of ["project", "tmp", "run", "state", "config", "codex", "bin"])
      mkdirSync(join(home, name), { mode: 0o700 });
    trust(join(home, "claude"), this.cwd);
    writeFileSync(join(home, "codex/config.toml"), codexConfigToml(responses.url));
    // As after npm install -g.
    for (const name of ["sm", "blemees", "blemees-claude"])
      symlinkSync(join(ROOT, `dist/${name}.js`), join(home, "bin", name));
    // Codex runs its commands in a login shell, and /etc/profile may reset the PATH.
    writeFileSync(join(home, ".profile"), 'PATH="$HOME/bin:$PATH"\n');
    symlinkSync(claudeProgram(), join(home, "bin/claude"));
    symlinkSync(codexProgram(), join(home, "bin/codex"));
    this.env = {
      ...claudeEnvironment(anthropic.url),
      MOCK_KEY: "sk-mock",
      PATH: `${join(home, "bin")}:${process.env["PATH"]}`,
      HOME: home,
      TMPDIR: join(home, "tmp"),
      XDG_RUNTIME_DIR: join(home, "run"),
      XDG_STATE_HOME: join(home, "state"),
      XDG_CONFIG_HOME: join(home, "config"),
      CLAUDE_CONFIG_DIR: join(home, "claude"),
      CODEX_HOME: join(home, "codex"),
      BLEMEESD_SHUTDOWN_GRACE: "0",
    };
  }

  static async create(options: MockOptions = {}): Promise<Machine> {
    const home = realpathSync(mkdtempSync(join(tmpdir(), "blemees-e2e-")));
    return new Machine(home, await startMockAnthropic(options), await startMockResponses(options));
  }

  /** For a test that reads while it runs. */
  start(program: string, args: readonly string[], more: Record<string, string> = {}): Running {
    const env = { ...this.env, ...more };
    const child = spawn(program, args, { cwd: this.cwd, env, stdio: ["ignore", "pipe", "pipe"] });
    const running = new Running(child);
    this.#started.push(running);
    return running;
  }

  /** Runs sm, whatever its exit code. */
  sm(...args: string[]): Promise<Ran> {
    return this.start("sm", args).ended();
  }

  /** Runs sm, which must succeed; returns its JSON document. */
  async json<T>(...args: string[]): Promise<T> {
    const { code, stdout, stderr } = await this.sm(...args, "--json");
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringMatching(/^(· .*\n)*$/) });
    return JSON.parse(stdout) as T;
  }

  /** `sm spawn`; the session's id. */
  async spawn(agent: string, name: string, ...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await this.sm("spawn", agent, "--name", name, ...args);
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringMatching(/^(· .*\n)*$/) });
    return stdout.trim();
  }

  /** The answer to a message, by `sm send --wait`. */
  async say(name: string, text: string): Promise<string> {
    const { code, stdout, stderr } = await this.sm("send", name, "--wait", text);
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringMatching(/^(· .*\n)*$/) });
    return stdout;
  }

  /** curl on the daemon's socket: the status and the JSON of the reply. */
  async curl<T>(method: string, path: string, body?: object): Promise<{ status: number; body: T }> {
    const json =
      body === undefined ? [] : ["-H", "Content-Type: application/json", "-d", JSON.stringify(body)];
    const how = ["-sS", "--unix-socket", this.socket, "-w", "\\n%{http_code}", "-X", method, ...json];
    const { stdout, stderr } = await this.start("curl", [...how, `http://localhost${path}`]).ended();
    const [, text = "", status = ""] = /^(.*)\n(\d{3})$/s.exec(stdout) ?? [];
    expect(status, stderr).toMatch(/^[245]/);
    return { status: Number(status), body: JSON.parse(text) as T };
  }

  /** curl that keeps reading a stream of events. */
  stream(path: string, ...headers: string[]): Running {
    const how = ["-sN", "--unix-socket", this.socket, "-H", "Accept: text/event-stream"];
    return this.start("curl", [
      ...how,
      ...headers.flatMap((header) => ["-H", header]),
      `http://localhost${path}`,
    ]);
  }

  view(name: string): Promise<SessionView> {
    return this.json("show", name);
  }

  async requests(...args: string[]): Promise<RequestRow[]> {
    return (await this.json<{ requests: RequestRow[] }>("requests", ...args)).requests;
  }

  /** kill -9 of the daemon and its agents, as in a crash of the machine; only the next sm starts it again. */
  async killDaemon(signal: NodeJS.Signals = "SIGKILL", areAgentsLeft = false): Promise<void> {
    const { daemon } = await this.json<{ daemon: { pid: number } }>("status", "--no-start");
    process.kill(daemon.pid, signal);
    await vi.waitFor(() => expect(isAlive(daemon.pid)).toBe(false), PATIENT);
    if (signal === "SIGKILL" && !areAgentsLeft) killLeft(this.home);
  }

  /** Ends the rest and checks that nothing is left: no process, no error in the daemon's log. */
  async close(): Promise<void> {
    for (const running of this.#started) await running.stop("SIGKILL");
    // After a test that failed half-way there may be none.
    if ((await this.sm("status", "--no-start")).code === 0) await this.killDaemon("SIGTERM");
    await untilGone(`HOME=${this.home}`);
    await Promise.all([this.anthropic.close(), this.responses.close()]);
    const log = readFileSync(join(this.home, "state/blemees/blemeesd.log"), "utf8");
    rmSync(this.home, { recursive: true, force: true, maxRetries: 5 });
    expect(log).not.toContain('"event":"internal"');
  }
}

/** A running program, and all its output so far. */
export class Running {
  stdout = "";
  stderr = "";
  readonly #child: ChildProcessByStdio<null, Readable, Readable>;
  readonly #ended: Promise<Ran>;

  constructor(child: ChildProcessByStdio<null, Readable, Readable>) {
    this.#child = child;
    child.stdout.on("data", (chunk: Buffer) => {
      this.stdout += chunk.toString();
    });
    child.stderr.on("data", (chunk: Buffer) => {
      this.stderr += chunk.toString();
    });
    this.#ended = new Promise((resolve, reject) => {
      child.once("error", reject);
      child.once("close", (code) => resolve({ code, stdout: this.stdout, stderr: this.stderr }));
    });
  }

  ended(): Promise<Ran> {
    return this.#ended;
  }

  /** Waits for this output. */
  until(text: string): Promise<void> {
    return vi.waitFor(() => expect(this.stdout + this.stderr).toContain(text), PATIENT);
  }

  stop(signal: NodeJS.Signals = "SIGINT"): Promise<Ran> {
    this.#child.kill(signal);
    return this.#ended;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
