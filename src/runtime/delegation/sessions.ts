// The sessions of sub-agents: one conversation per agent, provider, model and caller, which later tasks continue. In
// memory, as long as the root session.
import { randomUUID } from "node:crypto";
import type { DemianConfig } from "../config/schema.ts";
import { compactHistory, foldTurns } from "../context/compact.ts";
import { cutResults } from "../context/cut.ts";
import { estimateMessages, estimateText } from "../context/estimate.ts";
import { findTurnStarts, toMessages, toSteps } from "../context/steps.ts";
import { parseSummary } from "../context/summary.ts";
import { History } from "../history.ts";
import type { Message } from "../messages.ts";
import type { ModelMemory } from "../model-request.ts";
import { createMemory, extendMemory, renderMemory } from "./memory.ts";
import type { AgentMemory } from "./types.ts";

export interface AgentSessionKey {
  rootSessionId: string;
  agent: string;
  /** The provider's key in the configuration. */
  profile: string;
  model: string;
  cwd: string;
  /** The sub-agents above it: callers do not share a sub-agent's conversation. */
  callers: readonly string[];
}

/** For the events `agent.session.context_compacted` and `agent.session.memory_updated`. */
export interface Remembered {
  /** Only if something was folded, dropped or cut. */
  compacted?: { beforeTokens: number; afterTokens: number; dropped: number; kept: number };
  memory: { invocations: number; tokens: number };
}

type SubAgentContext = DemianConfig["context"]["subAgent"];

/** "compact-…": how much of a tool result is kept after its task. */
const KEPT_RESULT_TOKENS = 250;

export class AgentSession {
  readonly id = `as_${randomUUID()}`;
  readonly key: AgentSessionKey;
  readonly history: History;
  /** The last reported compaction of its requests. */
  readonly modelMemory: ModelMemory = {};
  /** The files in `.demian` it may read. */
  readonly ownFiles = new Set<string>();
  #memory: AgentMemory = createMemory();
  #introduction: { tools: string; text: string } | undefined;
  #invocations = 0;

  constructor(key: AgentSessionKey, callIds: Set<string>) {
    this.key = key;
    this.history = new History({}, [], callIds);
  }

  get memory(): AgentMemory {
    return this.#memory;
  }

  /** Text from hooks at its start: once, and again only if its tools change. */
  async introduce(tools: string, ask: () => Promise<string>): Promise<string> {
    if (this.#introduction?.tools !== tools) this.#introduction = { tools, text: await ask() };
    return this.#introduction.text;
  }

  /** After a task, however it ended. */
  remember(task: { task: string; answer: string; ts: number }, policy: SubAgentContext): Remembered {
    const files = listFiles(this.history.messages);
    this.#memory = extendMemory(this.#memory, { ...task, files });
    this.#invocations += 1;
    const compacted = this.#compact(policy);
    const tokens = estimateText(renderMemory(this.#memory, policy.summaryTargetTokens));
    const memory = { invocations: this.#invocations, tokens };
    return compacted === undefined ? { memory } : { compacted, memory };
  }

  #compact(policy: SubAgentContext): Remembered["compacted"] {
    const before = this.history.messages;
    const beforeTokens = estimateMessages(before);
    const after = compress(before, policy);
    const afterTokens = estimateMessages(after);
    if (after.length === before.length && afterTokens >= beforeTokens) return undefined;
    this.history.replace(after);
    const kept = countMessages(after);
    return { beforeTokens, afterTokens, dropped: countMessages(before) - kept, kept };
  }
}

export class AgentSessionStore {
  readonly #callIds: Set<string>;
  readonly #sessions = new Map<string, AgentSession>();

  /** `callIds`: the root session's, so that call ids are unique across agents. */
  constructor(callIds: Set<string>) {
    this.#callIds = callIds;
  }

  /** The session that did earlier tasks, or a new one. */
  obtain(key: AgentSessionKey): AgentSession {
    const { rootSessionId, agent, profile, model, cwd, callers } = key;
    const name = JSON.stringify([rootSessionId, agent, profile, model, cwd, callers]);
    const found = this.#sessions.get(name) ?? new AgentSession(key, this.#callIds);
    this.#sessions.set(name, found);
    return found;
  }
}

function compress(history: readonly Message[], policy: SubAgentContext): readonly Message[] {
  const { compression, recentTurns } = policy;
  if (compression === "none") return keepRecent(history, recentTurns);
  const folded = foldTurns(history, policy) ?? history;
  const short = compression === "summary-and-recent" ? folded : shortenResults(folded);
  if (estimateMessages(short) < policy.maxContextTokens * policy.compactAtRatio) return short;
  // Recent tasks alone are too long: fold their beginning too.
  const tight = { ...policy, maxInlineToolResultTokens: KEPT_RESULT_TOKENS, reserveForImagesTokens: 0 };
  return compactHistory(short, tight)?.history ?? short;
}

function keepRecent(history: readonly Message[], turns: number): readonly Message[] {
  const steps = toSteps(history);
  const start = findTurnStarts(steps).at(-turns) ?? 0;
  return start === 0 ? history : toMessages(steps.slice(start));
}

/** A short message stays the same object. */
function shortenResults(history: readonly Message[]): readonly Message[] {
  return toMessages(toSteps(history).map((step) => cutResults(step, KEPT_RESULT_TOKENS)));
}

/** Messages, without a summary of earlier ones. */
function countMessages(history: readonly Message[]): number {
  const [first] = history;
  const isSummary = typeof first?.content === "string" && parseSummary(first.content) !== undefined;
  return history.length - (isSummary ? 1 : 0);
}

/** Paths of successful file tool calls. */
const FILE_TOOL = /^(?:read_file|write_file|edit_file|(?:claudecode\.)?(?:Read|Write|Edit|MultiEdit))$/;

function listFiles(messages: readonly Message[]): string[] {
  return toSteps(messages).flatMap((step) => {
    if (step.kind === "user") return [];
    return (step.answer.toolCalls ?? []).flatMap(({ name, input }, index) => {
      if (!FILE_TOOL.test(name) || step.results[index]?.isError === true) return [];
      const { path, file_path: filePath } = (input ?? {}) as Record<string, unknown>;
      return [path, filePath].filter((one) => typeof one === "string");
    });
  });
}
