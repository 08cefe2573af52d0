// Runs one message to an agent with its own loop, with the same events, hooks and history as for ours.
import { defined } from "../../base/values.ts";
import { buildOpenEnv } from "../command-env.ts";
import type { EventBody } from "../events.ts";
import { endBlocked, explainTurnLimit, guardAnswer, refuseToStop, submitMessage } from "../message-hooks.ts";
import type { UserContentPart, UserMessage } from "../messages.ts";
import type { TokenUsage } from "../providers/types.ts";
import type { Services } from "../services.ts";
import type { TurnReport } from "../session-types.ts";
import { type End, reportEnd, toBugEnd } from "../turn-end.ts";
import { addUsage, createUsage } from "../usage.ts";
import { decideExternal, type ExternalServices } from "./decide.ts";
import type { ExternalReport } from "./types.ts";
import { listUnreadable } from "./unreadable.ts";

interface Turn {
  services: ExternalServices;
  signal: AbortSignal;
  usage: TokenUsage;
  /** Requests that it has sent to its model. */
  requests: number;
  text: string;
  plan?: string;
}

/** Never rejects. */
export async function runExternalTurn(
  services: ExternalServices,
  message: UserMessage,
  signal: AbortSignal,
): Promise<TurnReport> {
  const turn: Turn = { services, signal, usage: createUsage(), requests: 0, text: "" };
  const end = await conclude(turn, message).catch(toBugEnd);
  const { usage, requests: turns, text, plan } = turn;
  return reportEnd(services, end, { text, turns, usage, ...defined({ plan }) });
}

async function conclude(turn: Turn, message: UserMessage): Promise<End> {
  const { services, signal } = turn;
  const refused = await submitMessage(services, message, signal);
  if (refused !== undefined) return refused;
  let parts = listImages(message);
  const limit = services.limits.maxTurns;
  // More than once only if a Stop hook asks for more.
  for (let round = 0; round < limit && turn.requests < limit; round += 1) {
    const end = await sendOnce(turn, parts);
    if (end.outcome !== "completed") return end;
    const more = await refuseToStop(services, turn.text, signal);
    if (more === undefined) return end;
    services.history.begin({ role: "user", content: more });
    parts = [];
  }
  return { outcome: "max_turns", message: explainTurnLimit(services) };
}

/** Sends the last message of the history and waits for the answer. */
async function sendOnce(turn: Turn, parts: readonly UserContentPart[]): Promise<End> {
  const { services, signal } = turn;
  const stopping = new AbortController();
  let fault: End | undefined;
  const events = new OrderedEvents(services, signal, (reason) => {
    fault = endBlocked(reason);
    stopping.abort();
  });
  const report = await run(turn, parts, events, AbortSignal.any([signal, stopping.signal]));
  await events.flush();
  countUsage(turn, report);
  const said = await guardAnswer(services, report.text, signal);
  if (said.text !== "") {
    services.history.push({ role: "assistant", content: said.text });
    turn.text = said.text;
    services.emit({ type: "model.text", text: said.text, final: true });
  }
  if (said.blocked) return endBlocked(said.reason);
  if (fault !== undefined) return fault;
  // The plan as the user saw it, after hooks changed it.
  if (report.plan !== undefined && said.text !== "")
    turn.plan = report.plan === report.text ? said.text : report.plan;
  return toEnd(turn, report);
}

async function run(
  turn: Turn,
  parts: readonly UserContentPart[],
  events: OrderedEvents,
  signal: AbortSignal,
): Promise<ExternalReport> {
  const { services } = turn;
  const { provider, question } = services;
  const ordered: ExternalServices = { ...services, emit: (event) => events.emit(event) };
  return provider.external.run({
    rootSessionId: services.invocation.rootSessionId ?? services.sessionId,
    agent: services.agent,
    systemPrompt: services.systemPrompt,
    profile: provider.key,
    model: provider.model,
    effort: provider.effort,
    cwd: services.workspace.root,
    text: [services.history.notes, services.history.request].filter((text) => text !== "").join("\n\n"),
    parts,
    // Without this message.
    history: services.history.messages.slice(0, -1),
    agentPath: services.invocation.agentPath,
    maxTurns: services.limits.maxTurns - turn.requests,
    globalRules: services.config.permissions,
    unreadable: await listUnreadable(services),
    env: toHostEnv(services),
    stateDirectory: services.host.stateDirectory,
    signal,
    emit: (event) => events.emit(event),
    decide: async (call, limit) => {
      // Earlier events come before the question.
      await events.flush();
      return decideExternal(ordered, call, limit);
    },
    ...(question === undefined ? {} : { question: (asked, limit) => question(asked, limit) }),
  });
}

function countUsage(turn: Turn, { turns, usage: more }: ExternalReport): void {
  const { services, usage } = turn;
  turn.requests += turns;
  if (more.inputTokens + more.outputTokens === 0 && more.costUsd === undefined) return;
  services.emit({ type: "model.usage", ...more, model: services.provider.model });
  addUsage(usage, more);
}

function toEnd({ services }: Turn, report: ExternalReport): End {
  const { outcome, message, failure } = report;
  if (outcome === "failed" && failure !== undefined) services.emit({ type: "model.failed", failure });
  if (outcome === "content_filter") {
    services.emit({
      type: "model.content_filter",
      message: message ?? "the provider's safety filter stopped the answer",
    });
  }
  return { outcome, ...defined({ message, failure }) };
}

/** Our environment without the keys of other providers; environment.ts handles those of its own vendor. */
function toHostEnv({ host, config }: ExternalServices): Readonly<Record<string, string | undefined>> {
  const own = Object.entries(host.env).filter(([name]) => /^(ANTHROPIC|CLAUDE)_/.test(name));
  return { ...buildOpenEnv(host.env, config.providers), ...Object.fromEntries(own) };
}

function listImages({ content }: UserMessage): UserContentPart[] {
  return typeof content === "string" ? [] : content.filter((part) => part.type === "image_url");
}

/** Emits events in order, even while hooks check a text first. */
class OrderedEvents {
  readonly #services: Services;
  readonly #signal: AbortSignal;
  readonly #onBlocked: (reason: string | undefined) => void;
  /** The last queued step. */
  #last: Promise<void> | undefined;

  /** `onBlocked`: a hook wants to end this turn. */
  constructor(services: Services, signal: AbortSignal, onBlocked: (reason: string | undefined) => void) {
    this.#services = services;
    this.#signal = signal;
    this.#onBlocked = onBlocked;
  }

  emit(event: EventBody): void {
    if (event.type === "model.text") this.#enqueue(() => this.#emitText(event));
    else if (this.#last === undefined) this.#services.emit(event);
    else this.#enqueue(async () => this.#services.emit(event));
  }

  /** Resolves once every event so far was emitted. */
  async flush(): Promise<void> {
    while (this.#last !== undefined) await this.#last;
  }

  async #emitText(event: Extract<EventBody, { type: "model.text" }>): Promise<void> {
    const said = await guardAnswer(this.#services, event.text, this.#signal);
    if (said.text !== "") this.#services.emit({ ...event, text: said.text });
    if (said.blocked) this.#onBlocked(said.reason);
  }

  #enqueue(step: () => Promise<void>): void {
    const mine = (this.#last ?? Promise.resolve()).then(step).finally(() => {
      if (this.#last === mine) this.#last = undefined;
    });
    this.#last = mine;
  }
}
