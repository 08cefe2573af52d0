// A workspace in multi-agent mode: a main agent on one provider, sub-agents on another one, both over real HTTP.
import type { AgentConfig } from "../../../src/runtime/config/schema.ts";
import type { RuntimeEvent } from "../../../src/runtime/events.ts";
import type { SessionOrder } from "../../../src/runtime/session-types.ts";
import { chatReply, type ModelServer, type Reply, startModelServer } from "../../support/model-server.ts";
import { type Opened, Place } from "../place.ts";

export type AgentChange = Partial<AgentConfig> & Record<string, unknown>;

export class Team {
  readonly place = new Place();
  readonly main: ModelServer;
  readonly other: ModelServer;

  /** `other` speaks Anthropic's protocol: the two have nothing in common but us. */
  static async start(): Promise<Team> {
    return new Team(await startModelServer(), await startModelServer());
  }

  private constructor(main: ModelServer, other: ModelServer) {
    this.main = main;
    this.other = other;
    this.configure();
  }

  configure({
    agents = {},
    ...more
  }: { agents?: Record<string, AgentChange> } & Record<string, unknown> = {}): void {
    this.place.configure({
      agentMode: "multi-agent",
      defaultProvider: "a",
      providers: {
        a: { type: "openai-compatible", model: "model-a", baseURL: `${this.main.url}/v1`, maxRetries: 0 },
        b: {
          type: "anthropic",
          model: "model-b",
          baseURL: this.other.url,
          apiKey: "key-of-b",
          maxRetries: 0,
        },
      },
      sandbox: { mode: "off" },
      agents: {
        reviewer: subAgent({ provider: { profile: "b" } }),
        writer: subAgent({ tools: { visible: ["write_file", "read_file"] }, permissions: [] }),
        ...agents,
      },
      ...more,
    });
  }

  open(order: Partial<SessionOrder> = {}, flags?: Record<string, unknown>): Promise<Opened> {
    return this.place.open(order, flags);
  }

  async close(): Promise<void> {
    await this.place.close();
    await this.main.close();
    await this.other.close();
  }
}

/** One that reads, unless it is said otherwise. */
export function subAgent(change: AgentChange = {}): AgentChange {
  return {
    description: "Read-only code reviewer.",
    mode: "subagent",
    prompt: { system: "You review." },
    tools: { visible: ["read_file", "grep", "glob"] },
    permissions: [{ tool: "read_file", decision: "allow" }],
    ...change,
  };
}

export function delegate(agent: string, task: string, more: Record<string, unknown> = {}): Reply {
  return chatReply("", [{ name: "delegate_agent", input: { agent, task, ...more } }]);
}

/** Everything that was sent in this request, as text. */
export function wire(server: ModelServer, index: number): string {
  return JSON.stringify(server.requests[index]?.body);
}

/** The events without measurements. */
export function story(events: readonly RuntimeEvent[]): string[] {
  const noise = new Set(["context.compiled", "model.usage", "model.text.delta", "session.started"]);
  return events
    .filter(({ type }) => !noise.has(type))
    .map((event) => {
      const name = "name" in event ? ` ${event.name}` : "";
      return `${event.agentPath?.join(">") ?? "main"}: ${event.type}${name}`;
    });
}
