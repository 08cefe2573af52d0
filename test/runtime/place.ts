// A workspace with its own home, for tests of the whole runtime.
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { RuntimeEvent } from "../../src/runtime/events.ts";
import type { PermissionPrompt } from "../../src/runtime/permissions/types.ts";
import { createRuntime } from "../../src/runtime/runtime.ts";
import type { DemianSession, Runtime, SessionOrder } from "../../src/runtime/session-types.ts";

export interface Opened {
  runtime: Runtime;
  session: DemianSession;
  events: RuntimeEvent[];
  prompts: PermissionPrompt[];
}

export class Place {
  readonly root = realpathSync(mkdtempSync(join(tmpdir(), "demian-")));
  readonly cwd = join(this.root, "project");
  readonly home = join(this.root, "home");
  readonly env: Record<string, string> = {
    PATH: process.env["PATH"] ?? "",
    HOME: this.home,
    XDG_STATE_HOME: join(this.root, "state"),
    LANG: "C.UTF-8",
  };
  readonly #runtimes: Runtime[] = [];

  constructor() {
    mkdirSync(this.cwd);
    mkdirSync(this.home);
  }

  write(path: string, content: string): void {
    const file = join(this.cwd, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
  }

  read(path: string): string {
    return readFileSync(join(this.cwd, path), "utf8");
  }

  /** The user's configuration. */
  configure(config: object): void {
    mkdirSync(join(this.home, ".demian"), { recursive: true });
    writeFileSync(join(this.home, ".demian/config.json"), JSON.stringify(config));
  }

  async runtime(flags?: Record<string, unknown>): Promise<Runtime> {
    const runtime = await createRuntime({
      cwd: this.cwd,
      env: this.env,
      ...(flags === undefined ? {} : { flags }),
    });
    this.#runtimes.push(runtime);
    return runtime;
  }

  async open(order: Partial<SessionOrder> = {}, flags?: Record<string, unknown>): Promise<Opened> {
    const runtime = await this.runtime(flags);
    const events: RuntimeEvent[] = [];
    const prompts: PermissionPrompt[] = [];
    const ask = order.ask ?? (() => Promise.resolve({ decision: "allow" as const }));
    const session = await runtime.openSession({
      onEvent: (event) => void events.push(event),
      ...order,
      ask: (prompt, signal) => {
        prompts.push(prompt);
        return ask(prompt, signal);
      },
    });
    return { runtime, session, events, prompts };
  }

  async close(): Promise<void> {
    await Promise.all(this.#runtimes.map((runtime) => runtime.close()));
    rmSync(this.root, { recursive: true, force: true });
  }
}
