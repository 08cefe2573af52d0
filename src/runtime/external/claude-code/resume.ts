// Chooses the Claude Code session that a message resumes, and explains why a new one starts.
import { toSteps } from "../../context/steps.ts";
import { createSummary, extendSummary, renderSummary } from "../../context/summary.ts";
import type { Message } from "../../messages.ts";
import type { ClaudeCodeConfig } from "../../providers/registry-types.ts";
import type { ExternalTurn } from "../types.ts";
import { describeChanges, findChanges, hashKey, type SessionKey, type SplitReason } from "./session-key.ts";
import type { SessionEntry } from "./session-map.ts";

/** The session to resume, or none; then why, if there was one before. */
export type SessionStart = { resume: string } | { resume?: undefined; split?: SessionSplit };

export interface SessionSplit {
  reason: string;
  message: string;
}

export type Recovery = "fresh" | "auto-recover" | "stop";

type StartTurn = Pick<ExternalTurn, "history" | "agentPath">;

const QUESTION_LIMIT_MS = 30_000;
const SUMMARY_TOKENS = 4000;
const CHOICES: readonly (readonly [label: string, recovery: Recovery])[] = [
  ["Start a new session", "fresh"],
  ["Start a new session with a summary of the conversation", "auto-recover"],
  ["Do not send the message", "stop"],
];

/** `entries`: those of the root session, most recently used first. */
export function chooseStart(
  key: SessionKey,
  entries: readonly SessionEntry[],
  turn: StartTurn,
): SessionStart {
  const text = hashKey(key);
  const match = entries.find((entry) => hashKey(entry) === text);
  if (match !== undefined) return { resume: match.claudeSessionId };
  const isSubagent = turn.agentPath !== undefined;
  // A main agent continues after any other; a sub-agent only after itself.
  const last = entries.find(
    (entry) => entry.isSubagent === isSubagent && (!isSubagent || entry.agent === key.agent),
  );
  if (last !== undefined) return { split: toSplit(findChanges(last, key)) };
  const hasHistory = !isSubagent && (turn.history ?? []).some(({ role }) => role === "assistant");
  return hasHistory ? { split: toSplit(["provider"]) } : {};
}

function toSplit(reasons: readonly SplitReason[]): SessionSplit {
  const why = reasons.includes("provider") ? "another provider was used before" : describeChanges(reasons);
  return {
    reason: reasons.join(","),
    message: `Claude Code starts a new session (${why}) without the earlier conversation`,
  };
}

/** What to do if the session to resume no longer exists. The user has 30 s to answer; the default is "fresh". */
export async function chooseRecovery(
  policy: ClaudeCodeConfig["onInvalidResume"],
  { question, signal }: Pick<ExternalTurn, "question" | "signal">,
  limitMs = QUESTION_LIMIT_MS,
): Promise<Recovery> {
  if (policy !== "prompt") return policy;
  if (question === undefined) return "fresh";
  const limit = AbortSignal.any([signal, AbortSignal.timeout(limitMs)]);
  const answer = await Promise.race([
    question({ text: QUESTION, options: CHOICES.map(([label]) => label) }, limit).catch(() => undefined),
    waitForAbort(limit),
  ]);
  return CHOICES.find(([label]) => label === answer)?.[1] ?? "fresh";
}

const QUESTION = "The Claude Code session to resume no longer exists. How do you want to continue?";

function waitForAbort(signal: AbortSignal): Promise<undefined> {
  if (signal.aborted) return Promise.resolve(undefined);
  return new Promise((resolve) => {
    signal.addEventListener("abort", () => resolve(undefined), { once: true });
  });
}

export function toLostSplit(sessionId: string, recovery: Recovery): SessionSplit {
  const how =
    recovery === "auto-recover" ? "with a summary of the conversation" : "without the earlier conversation";
  return {
    reason: "invalid_resume",
    message: `Claude Code session ${sessionId} no longer exists; it starts a new one ${how}`,
  };
}

/** The prompt after a summary of the conversation, of limited size. */
export function addSummary(prompt: string, history: readonly Message[] = []): string {
  const steps = toSteps(history);
  if (steps.length === 0) return prompt;
  const summary = renderSummary(extendSummary(createSummary(), steps), SUMMARY_TOKENS);
  return `${summary}\n\n[Answer this message]\n${prompt}`;
}
