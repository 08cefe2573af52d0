// Which session of Claude Code a message goes on with, and what is told when it begins anew.
import { toSteps } from "../../context/steps.ts";
import { emptySummary, extendSummary, renderSummary } from "../../context/summary.ts";
import type { Message } from "../../messages.ts";
import type { ClaudeCodeConfig } from "../../providers/registry-types.ts";
import type { ExternalTurn } from "../types.ts";
import { changedParts, keyText, type SessionKey, type SplitReason, wordsFor } from "./session-key.ts";
import type { SessionEntry } from "./session-map.ts";

/** Where a message begins: in a session, or in none; then why not, where there was one before. */
export type Start = { resume: string } | { resume?: undefined; split?: Split };

export interface Split {
  reason: string;
  message: string;
}

export type Recovery = "fresh" | "auto-recover" | "stop";

type StartTurn = Pick<ExternalTurn, "history" | "agentPath">;

const QUESTION_LIMIT_MS = 30_000;
const SUMMARY_TOKENS = 4000;
const CHOICES: readonly (readonly [words: string, recovery: Recovery])[] = [
  ["Begin anew", "fresh"],
  ["Begin anew with a summary of what was said", "auto-recover"],
  ["Do not send the message", "stop"],
];

/** `entries`: those of the root session, the one used last in front. */
export function startOf(key: SessionKey, entries: readonly SessionEntry[], turn: StartTurn): Start {
  const text = keyText(key);
  const match = entries.find((entry) => keyText(entry) === text);
  if (match !== undefined) return { resume: match.claudeSessionId };
  const isSubagent = turn.agentPath !== undefined;
  // Main agents follow each other; a sub-agent follows itself only.
  const last = entries.find(
    (entry) => entry.isSubagent === isSubagent && (!isSubagent || entry.agent === key.agent),
  );
  if (last !== undefined) return { split: splitOf(changedParts(last, key)) };
  const hasHistory = !isSubagent && (turn.history ?? []).some(({ role }) => role === "assistant");
  return hasHistory ? { split: splitOf(["provider"]) } : {};
}

function splitOf(reasons: readonly SplitReason[]): Split {
  const why = reasons.includes("provider") ? "it takes over from another provider" : wordsFor(reasons);
  return {
    reason: reasons.join(","),
    message: `Claude Code begins a new session (${why}): it does not know what was said before`,
  };
}

/** What to do when the session that was to go on is gone. A person is asked for 30 s; nobody's answer is "fresh". */
export async function recoveryOf(
  policy: ClaudeCodeConfig["onInvalidResume"],
  { question, signal }: Pick<ExternalTurn, "question" | "signal">,
  limitMs = QUESTION_LIMIT_MS,
): Promise<Recovery> {
  if (policy !== "prompt") return policy;
  if (question === undefined) return "fresh";
  const limit = AbortSignal.any([signal, AbortSignal.timeout(limitMs)]);
  const answer = await Promise.race([
    question({ text: ASKED, options: CHOICES.map(([words]) => words) }, limit).catch(() => undefined),
    aborted(limit),
  ]);
  return CHOICES.find(([words]) => words === answer)?.[1] ?? "fresh";
}

const ASKED = "The session of Claude Code that was to go on is gone. How shall it go on?";

function aborted(signal: AbortSignal): Promise<undefined> {
  if (signal.aborted) return Promise.resolve(undefined);
  return new Promise((resolve) => {
    signal.addEventListener("abort", () => resolve(undefined), { once: true });
  });
}

export function lostSplit(sessionId: string, recovery: Recovery): Split {
  const how =
    recovery === "auto-recover"
      ? "it begins anew with a summary of what was said"
      : "it begins anew and does not know what was said before";
  return { reason: "invalid_resume", message: `Claude Code has no session ${sessionId} any more: ${how}` };
}

/** The words in front of which a summary of what was said stands. Bounded. */
export function withSummary(prompt: string, history: readonly Message[] = []): string {
  const steps = toSteps(history);
  if (steps.length === 0) return prompt;
  const summary = renderSummary(extendSummary(emptySummary(), steps), SUMMARY_TOKENS);
  return `${summary}\n\n[The message to answer now]\n${prompt}`;
}
