// A session's services for tests of the loop: a scripted model, small tools, and hooks and permissions that record.

import { defined } from "../../src/base/values.ts";
import { runTurn } from "../../src/runtime/agent-loop.ts";
import type { AgentDefinition } from "../../src/runtime/agents/types.ts";
import { DemianConfig } from "../../src/runtime/config/schema.ts";
import type { EventBody } from "../../src/runtime/events.ts";
import { History } from "../../src/runtime/history.ts";
import type { HookDispatcher, HookInput, HookOutcome } from "../../src/runtime/hooks/types.ts";
import type { Message } from "../../src/runtime/messages.ts";
import type { ModelMemory } from "../../src/runtime/model-request.ts";
import type { PermissionGate } from "../../src/runtime/permissions/gate.ts";
import type { ModelFacts } from "../../src/runtime/providers/models/facts.ts";
import { createScriptedProvider, type ScriptedReply } from "../../src/runtime/providers/scripted/index.ts";
import type { ChatRequest, Provider } from "../../src/runtime/providers/types.ts";
import type { Sandbox } from "../../src/runtime/sandbox/types.ts";
import type { NativeServices } from "../../src/runtime/services.ts";
import type { TurnReport } from "../../src/runtime/session-types.ts";
import type { ToolDefinition, ToolResult } from "../../src/runtime/tools/types.ts";
import type { Workspace } from "../../src/runtime/workspace/types.ts";

export const AGENT: AgentDefinition = {
  name: "tester",
  description: "for tests",
  mode: "primary",
  prompt: { system: "be brief" },
  tools: { visible: [] },
  permissions: [],
};

export interface StageOptions {
  replies?: ScriptedReply[];
  provider?: Provider;
  tools?: ToolDefinition[];
  hooks?: (input: HookInput, signal: AbortSignal) => Partial<HookOutcome> | Promise<Partial<HookOutcome>>;
  decide?: PermissionGate["decide"];
  config?: Record<string, unknown>;
  history?: Message[];
  dryRun?: boolean;
  streaming?: boolean;
  facts?: ModelFacts;
  /** The model also writes the summaries of folds. */
  writesSummaries?: true;
}

export class Stage {
  readonly events: EventBody[] = [];
  readonly requests: ChatRequest[] = [];
  readonly hookInputs: HookInput[] = [];
  readonly services: NativeServices;
  readonly abort = new AbortController();
  readonly #memory: ModelMemory = {};

  constructor(options: StageOptions = {}) {
    const replies = [...(options.replies ?? [])];
    const scripted = createScriptedProvider({
      reply: (request) => {
        this.requests.push(request);
        return replies.shift() ?? { text: "nothing more to say" };
      },
    });
    const dispatch: HookDispatcher["dispatch"] = async (input, signal) => {
      this.hookInputs.push(input);
      return { blocked: false, warnings: [], ...(await options.hooks?.(input, signal)) };
    };
    const allow: PermissionGate["decide"] = () =>
      Promise.resolve({ allowed: true, by: "rule", always: false });
    const config = DemianConfig.parse({
      streaming: { enabled: options.streaming ?? true },
      ...options.config,
    });
    if (options.writesSummaries !== true) config.context.main.compression = "deterministic";
    const provider = {
      key: "script",
      type: "scripted",
      model: "m",
      provider: options.provider ?? scripted,
      ...defined({ facts: options.facts }),
    };
    this.services = {
      sessionId: "ses_test",
      config,
      workspace: { root: "/nowhere" } as Workspace,
      sandbox: { mode: "off", adapter: "off" } as Sandbox,
      history: new History({}, options.history ?? []),
      hooks: { dispatch },
      gate: { decide: options.decide ?? allow, mayRead: () => true },
      agent: AGENT,
      provider,
      systemPrompt: "be brief",
      tools: options.tools ?? [],
      env: {},
      host: { env: {}, stateDirectory: "/nowhere" },
      limits: { maxTurns: config.maxTurns, context: config.context.main },
      invocation: {},
      dryRun: options.dryRun ?? false,
      emit: (event) => void this.events.push(event),
      keepOutput: () => Promise.resolve("kept"),
      question: undefined,
    };
  }

  run(text: string): Promise<TurnReport> {
    return runTurn(this.services, { role: "user", content: text }, this.#memory, this.abort.signal);
  }

  /** The types of the events, without what only measures. */
  get told(): string[] {
    const noise = new Set(["context.compiled", "model.usage", "model.text.delta"]);
    return this.events.map(({ type }) => type).filter((type) => !noise.has(type));
  }

  of<T extends EventBody["type"]>(type: T): Extract<EventBody, { type: T }>[] {
    return this.events.filter((event): event is Extract<EventBody, { type: T }> => event.type === type);
  }

  get answers(): string[] {
    return this.services.history.messages.flatMap((message) =>
      message.role === "tool" ? [message.content] : [],
    );
  }
}

export interface TestTool {
  name?: string;
  sideEffect?: "none" | "workspace" | "process";
  check?: ToolDefinition["check"];
  execute?: (value: unknown, signal: AbortSignal) => Promise<ToolResult>;
}

/** A tool that takes anything and says what it got. */
export function testTool({
  name = "echo",
  sideEffect = "none",
  check,
  execute,
}: TestTool = {}): ToolDefinition {
  return {
    name,
    description: `the tool ${name}`,
    inputSchema: { type: "object" },
    metadata: { sideEffect },
    check: check ?? ((input) => ({ ok: true, value: input })),
    plan: (value) =>
      Promise.resolve({
        title: `${name}: ${JSON.stringify(value)}`,
        targets: [{ kind: "other", key: name }],
      }),
    execute: (value, _plan, { signal }) =>
      execute?.(value, signal) ?? Promise.resolve({ ok: true, content: `got ${JSON.stringify(value)}` }),
  };
}
