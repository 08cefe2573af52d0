// One message to an agent with a loop of its own, from the user's words to a report: the same events, hooks and history
// around it as around ours.
import { commandEnv } from "../command-env.ts";
import { blocked, guardAnswer, outOfTurns, refuseToStop, submitMessage } from "../message-hooks.ts";
import type { UserContentPart, UserMessage } from "../messages.ts";
import type { TokenUsage } from "../providers/types.ts";
import type { TurnReport } from "../session-types.ts";
import { bugEnd, type End, reportEnd } from "../turn-end.ts";
import { addUsage, noUsage } from "../usage.ts";
import { decideExternal, type ExternalServices } from "./decide.ts";
import { Telling } from "./telling.ts";
import type { ExternalReport } from "./types.ts";
import { unreadable } from "./unreadable.ts";

interface Turn {
  services: ExternalServices;
  signal: AbortSignal;
  usage: TokenUsage;
  /** Its own requests to its model, so far. */
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
  const turn: Turn = { services, signal, usage: noUsage(), requests: 0, text: "" };
  const end = await conclude(turn, message).catch(bugEnd);
  const { usage, requests: turns, text, plan } = turn;
  return reportEnd(services, end, { text, turns, usage, ...(plan === undefined ? {} : { plan }) });
}

async function conclude(turn: Turn, message: UserMessage): Promise<End> {
  const { services, signal } = turn;
  const refused = await submitMessage(services, message, signal);
  if (refused !== undefined) return refused;
  let parts = imagesOf(message);
  const limit = services.limits.maxTurns;
  // Again only where a Stop hook wants more of it.
  for (let round = 0; round < limit && turn.requests < limit; round += 1) {
    const end = await once(turn, parts);
    if (end.outcome !== "completed") return end;
    const more = await refuseToStop(services, turn.text, signal);
    if (more === undefined) return end;
    services.history.begin({ role: "user", content: more });
    parts = [];
  }
  return { outcome: "max_turns", message: outOfTurns(services) };
}

/** What was said last in the history, until its answer. */
async function once(turn: Turn, parts: readonly UserContentPart[]): Promise<End> {
  const { services, signal } = turn;
  const stopping = new AbortController();
  let fault: End | undefined;
  const telling = new Telling(services, signal, (reason) => {
    fault = blocked(reason);
    stopping.abort();
  });
  const report = await run(turn, parts, telling, AbortSignal.any([signal, stopping.signal]));
  await telling.settled();
  count(turn, report);
  const said = await guardAnswer(services, report.text, signal);
  if (said.text !== "") {
    services.history.push({ role: "assistant", content: said.text });
    turn.text = said.text;
    services.emit({ type: "model.text", text: said.text, final: true });
  }
  if (said.blocked) return blocked(said.reason);
  if (fault !== undefined) return fault;
  // A plan is what the person was shown: as hooks left it.
  if (report.plan !== undefined && said.text !== "")
    turn.plan = report.plan === report.text ? said.text : report.plan;
  return endOf(turn, report);
}

async function run(
  turn: Turn,
  parts: readonly UserContentPart[],
  telling: Telling,
  signal: AbortSignal,
): Promise<ExternalReport> {
  const { services } = turn;
  const { provider, question } = services;
  const told: ExternalServices = { ...services, emit: (event) => telling.tell(event) };
  return provider.external.run({
    rootSessionId: services.invocation.rootSessionId ?? services.sessionId,
    agent: services.agent,
    systemPrompt: services.systemPrompt,
    profile: provider.key,
    model: provider.model,
    cwd: services.workspace.root,
    text: services.history.request,
    parts,
    // Without the message itself.
    history: services.history.messages.slice(0, -1),
    agentPath: services.invocation.agentPath,
    maxTurns: services.limits.maxTurns - turn.requests,
    globalRules: services.config.permissions,
    unreadable: await unreadable(services),
    env: hostEnv(services),
    stateDirectory: services.host.stateDirectory,
    signal,
    emit: (event) => telling.tell(event),
    decide: async (call, limit) => {
      // What came before the question is told before it.
      await telling.settled();
      return decideExternal(told, call, limit);
    },
    ...(question === undefined ? {} : { question: (asked, limit) => question(asked, limit) }),
  });
}

function count(turn: Turn, { turns, usage: more }: ExternalReport): void {
  const { services, usage } = turn;
  turn.requests += turns;
  if (more.inputTokens + more.outputTokens === 0 && more.costUsd === undefined) return;
  services.emit({ type: "model.usage", ...more, model: services.provider.model });
  addUsage(usage, more);
}

function endOf({ services }: Turn, report: ExternalReport): End {
  const { outcome, message, failure } = report;
  if (outcome === "failed" && failure !== undefined) services.emit({ type: "model.failed", failure });
  if (outcome === "content_filter") {
    services.emit({
      type: "model.content_filter",
      message: message ?? "the provider's safety filter stopped the answer",
    });
  }
  return {
    outcome,
    ...(message === undefined ? {} : { message }),
    ...(failure === undefined ? {} : { failure }),
  };
}

/** Ours without the keys of other providers. What is its own vendor's is its own business (environment.ts). */
function hostEnv({ host, config }: ExternalServices): Readonly<Record<string, string | undefined>> {
  const own = Object.entries(host.env).filter(([name]) => /^(ANTHROPIC|CLAUDE)_/.test(name));
  return { ...commandEnv(host.env, config.providers), ...Object.fromEntries(own) };
}

function imagesOf({ content }: UserMessage): UserContentPart[] {
  return typeof content === "string" ? [] : content.filter((part) => part.type === "image_url");
}
