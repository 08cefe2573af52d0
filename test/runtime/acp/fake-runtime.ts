// A runtime whose turns are functions of the test: it emits events, asks and stores messages like the real one.

import { CodedError } from "../../../src/base/coded-error.ts";
import { defined } from "../../../src/base/values.ts";
import { AgentRegistry } from "../../../src/runtime/agents/registry.ts";
import type { AgentDefinition } from "../../../src/runtime/agents/types.ts";
import { DemianConfig } from "../../../src/runtime/config/schema.ts";
import type { EventBody } from "../../../src/runtime/events.ts";
import { History } from "../../../src/runtime/history.ts";
import type { Message } from "../../../src/runtime/messages.ts";
import type { PermissionAnswer, PermissionPrompt } from "../../../src/runtime/permissions/types.ts";
import type {
  DemianSession,
  Runtime,
  RuntimeOrder,
  SessionOrder,
  TurnInput,
  TurnReport,
} from "../../../src/runtime/session-types.ts";
import { ToolRegistry } from "../../../src/runtime/tools/registry.ts";

export interface FakeTurn {
  input: TurnInput;
  signal: AbortSignal;
  emit(event: EventBody): void;
  say(text: string): void;
  keep(message: Message): void;
  ask(prompt: Partial<PermissionPrompt> & { callId: string }): Promise<PermissionAnswer>;
  question: SessionOrder["question"];
  session: { agent: string; provider: string; model: string };
}

export type FakeScript = (turn: FakeTurn) => Promise<Partial<TurnReport> | undefined>;

export class FakeRuntimes {
  readonly orders: SessionOrder[] = [];
  readonly runtimeOrders: RuntimeOrder[] = [];
  /** What all sessions say they have planned. */
  plan: string | undefined;
  readonly closed: string[] = [];
  onClosed: () => void = () => undefined;
  created = 0;
  closedRuntimes = 0;
  script: FakeScript = async (turn) => {
    turn.say("done");
    return undefined;
  };
  /** Thrown by the next openSession. */
  openFailure: Error | undefined;

  readonly create = async (order: RuntimeOrder): Promise<Runtime> => {
    this.created += 1;
    this.runtimeOrders.push(order);
    const agents = new AgentRegistry();
    for (const name of ["build", "plan"]) agents.register(agent(name), { scope: "builtin", trusted: true });
    return {
      cwd: order.cwd,
      config: DemianConfig.parse({}),
      commands: [],
      warnings: [],
      agents,
      tools: new ToolRegistry(),
      providers: [
        { key: "local", type: "openai-compatible", model: "small", isReady: true },
        { key: "big", type: "openai-compatible", model: "vendor/large", isReady: true },
        {
          key: "locked",
          type: "anthropic",
          model: "claude",
          isReady: false,
          problem: "set ANTHROPIC_API_KEY",
        },
      ],
      listModels: async () => [],
      openSession: async (session) => this.#open(session),
      close: async () => {
        this.closedRuntimes += 1;
      },
    };
  };

  #open(order: SessionOrder): DemianSession {
    this.orders.push(order);
    if (this.openFailure !== undefined) {
      const failure = this.openFailure;
      this.openFailure = undefined;
      throw failure;
    }
    const id = order.sessionId ?? "none";
    const chosen = {
      agent: order.agent ?? "build",
      provider: order.provider ?? "local",
      model: order.model ?? "small",
      ...defined({ effort: order.effort }),
    };
    const history = new History(order, order.history);
    let running: { abort: AbortController; done: Promise<unknown> } | undefined;
    const emit = (event: EventBody) =>
      order.onEvent({ ...event, sessionId: id, agent: chosen.agent, ts: Date.now() });
    const turn = async (input: TurnInput, signal: AbortSignal): Promise<TurnReport> => {
      history.push({ role: "user", content: input.text });
      emit({
        type: "model.request",
        turn: 1,
        provider: "local",
        model: "small",
        messages: 1,
        tools: 0,
        stream: true,
      });
      let text = "";
      const report = await this.script({
        input,
        signal,
        emit,
        say: (words) => {
          text += words;
          emit({ type: "model.text.delta", text: words });
        },
        keep: (message) => history.push(message),
        ask: (prompt) =>
          order.ask(
            { sessionId: id, agent: chosen.agent, tool: "bash", title: "bash: ls", input: {}, ...prompt },
            signal,
          ),
        question: order.question?.bind(order),
        session: chosen,
      });
      if (text !== "") history.push({ role: "assistant", content: text });
      const usage = { inputTokens: 10, outputTokens: 4 };
      return { outcome: signal.aborted ? "aborted" : "completed", text, turns: 1, usage, ...report };
    };
    const fakes = this;
    return {
      id,
      get agent() {
        return chosen.agent;
      },
      get provider() {
        return chosen.provider;
      },
      get model() {
        return chosen.model;
      },
      get effort() {
        return "effort" in chosen ? chosen.effort : undefined;
      },
      sandbox: "off",
      jobs: { list: () => [], kill: () => Promise.reject(new Error("no job")) },
      runCommand: () => Promise.resolve({ output: "", end: "exit code 0", isGood: true }),
      addNote: () => undefined,
      get plan() {
        return fakes.plan;
      },
      get history() {
        return history.messages;
      },
      steer: async () => "returned",
      run(input) {
        const abort = new AbortController();
        input.signal?.addEventListener("abort", () => abort.abort());
        const done = turn(input, abort.signal).finally(() => {
          running = undefined;
        });
        running = { abort, done };
        return done;
      },
      async abort() {
        running?.abort.abort();
        await running?.done;
      },
      compact() {
        if (history.messages.length < 3) return undefined;
        const dropped = history.messages.length - 1;
        history.replace([{ role: "user", content: "summary" }]);
        return { beforeTokens: 100, afterTokens: 10, dropped, kept: 1, summaryTokens: 5 };
      },
      context: () => ({
        ...{ provider: "fake", model: "m", usedTokens: 7, limitTokens: 100, foldAtTokens: 70 },
        parts: [{ kind: "system", name: "system prompt", tokens: 7 }],
      }),
      async use(change) {
        if (change.agent !== undefined && !["build", "plan"].includes(change.agent)) {
          throw new CodedError("unknown_agent", `there is no agent "${change.agent}"`);
        }
        // A real one looks for the key of the provider and asks hooks.
        for (let n = 0; n < 5; n += 1) await new Promise((resolve) => setImmediate(resolve));
        Object.assign(chosen, change);
      },
      async close() {
        running?.abort.abort();
        await running?.done.catch(() => undefined);
        fakes.closed.push(id);
        fakes.onClosed();
      },
    };
  }
}

function agent(name: string): AgentDefinition {
  return {
    name,
    description: `the ${name} agent`,
    mode: "primary",
    prompt: { system: "" },
    tools: { visible: [] },
    permissions: [],
  };
}
