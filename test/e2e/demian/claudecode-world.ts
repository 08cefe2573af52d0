// demian with the real Claude Code as its agent: with its Agent SDK or as a program, with a made-up login, on the
// scripted model.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { EventBody, RuntimeEvent } from "../../../src/runtime/events.ts";
import type { SessionOrder } from "../../../src/runtime/session-types.ts";
import { type Opened, Place } from "../../runtime/place.ts";
import { type MockAnthropic, startMockAnthropic } from "../../tools/mock-anthropic.mjs";
import { claudeEnvironment, claudeProgram } from "../claude/world.ts";

export type Runtime = "agent-sdk" | "cli";

export const LOGIN = "sk-ant-oat01-of-nobody";

export class ClaudeCodeWorld {
  readonly place = new Place();
  readonly model: MockAnthropic;
  readonly #runtime: Runtime;

  private constructor(model: MockAnthropic, runtime: Runtime) {
    this.model = model;
    this.#runtime = runtime;
  }

  static async open(runtime: Runtime): Promise<ClaudeCodeWorld> {
    const world = new ClaudeCodeWorld(await startMockAnthropic(), runtime);
    const { place } = world;
    Object.assign(place.env, claudeEnvironment(world.model.url), { DEMIAN_CLAUDE_SDK: sdkFile() });
    world.logIn();
    world.configure();
    return world;
  }

  /** Identifies everything that belongs to it. */
  get mark(): string {
    return `HOME=${this.place.home}`;
  }

  logIn(): void {
    mkdirSync(join(this.place.home, ".claude"), { recursive: true });
    const login = {
      accessToken: LOGIN,
      refreshToken: "sk-ant-ort01-of-nobody",
      expiresAt: Date.now() + 86_400_000,
      scopes: ["user:inference", "user:profile"],
      subscriptionType: "max",
    };
    writeFileSync(
      join(this.place.home, ".claude/.credentials.json"),
      JSON.stringify({ claudeAiOauth: login }),
      { mode: 0o600 },
    );
  }

  configure(more: Record<string, unknown> = {}, config: Record<string, unknown> = {}): void {
    const common = {
      type: "claudecode",
      model: "sonnet",
      runtime: this.#runtime,
      cliPath: claudeProgram(),
      ...more,
    };
    this.place.configure({
      defaultProvider: "claudecode",
      providers: { claudecode: common, "claudecode-plan": { ...common, permissionMode: "plan" } },
      sandbox: { allowEnvOnly: true },
      ...config,
    });
  }

  session(order: Partial<SessionOrder> = {}): Promise<Opened> {
    return this.place.open(order);
  }

  async close(): Promise<void> {
    await this.model.close();
    await this.place.close();
  }
}

/** Events of a type, in order. */
export function of<T extends EventBody["type"]>(events: readonly RuntimeEvent[], type: T) {
  return events.filter((event): event is Extract<RuntimeEvent, { type: T }> => event.type === type);
}

function sdkFile(): string {
  const file = process.env["E2E_CLAUDE_SDK"];
  if (file === undefined) throw new Error("E2E_CLAUDE_SDK is not set: run `npm run test:e2e`");
  return file;
}
