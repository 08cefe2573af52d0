// The kinds of agents in the proof: how each is asked for numbered ticks and for an approval, and what it must say then.
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Answer } from "../../src/protocol/requests.ts";
import { ROOT } from "../support/root.ts";
import { decisionOf } from "./decision.ts";

/** What one message asks for. */
export interface Script {
  /** In no other message. */
  label: string;
  ticks: number;
  /** Whether the agent asks for an approval, between two rounds of ticks. */
  asks: boolean;
}

export interface Kind {
  backend: string;
  options: Record<string, unknown>;
  prompt(script: Script): string;
  /** The whole text of the turn. `answer`: to the approval. */
  text(script: Script, answer: Answer | undefined): string;
  /** A refusal ends its turn, so it gets none. */
  isAccepted?: boolean;
  /** Labels of the approvals that took effect, in order; absent: they leave no trace. */
  effects?(name: string): string[];
}

/** So that followers also read from the store. */
export const SMALL_RING = { BLEMEESD_RING_BUFFER_SIZE: "64" };
/** Between two ticks. */
const PACE_MS = 15;

export const CLAUDE: Kind = {
  backend: "claude",
  options: { include_partial_messages: true, approvals: true },
  prompt: makePrompt,
  text: (script, answer) => makeText(script, "tick", describeToClaude(script, answer)),
};

export const CODEX: Kind = {
  backend: "codex",
  options: {},
  prompt: makePrompt,
  text: (script, answer) => makeText(script, "tick", `decision "${decisionOf(answer)}"`),
};

/** Its sessions share a process. */
export const ACP: Kind = {
  backend: "fake",
  options: {},
  prompt: makePrompt,
  text: (script, answer) =>
    makeText(script, "word", `answer: ${decisionOf(answer) === "accept" ? "yes" : "no"}. `),
};

/** Repeats the message slowly, or asks, but not both. */
export const DEMO: Kind = {
  backend: "demo",
  options: { pace_ms: PACE_MS },
  prompt: ({ label, ticks, asks }) =>
    asks ? `approve ${label}` : `${label} ${makeTicks("tick", ticks).trim()}`,
  text: (script, answer) => {
    if (!script.asks)
      return (
        `This is the blemees demo agent, not a language model. You said: "${DEMO.prompt(script)}". ` +
        "Ask for a tool, for something slow (and interrupt it), to think, or to fail; " +
        "let me ask you a question, or have something to approve."
      );
    return decisionOf(answer) === "accept"
      ? "It was allowed, so I pretended to run `rm -rf build`."
      : `It was declined: "${script.label}". I did nothing.`;
  },
};

/** A home for all kinds, and the daemon's environment. */
export function furnish(): { home: string; env: Record<string, string> } {
  const home = mkdtempSync(join(tmpdir(), "blemees-outlive-"));
  const config = join(home, "config/blemeesd");
  mkdirSync(config, { recursive: true, mode: 0o700 });
  const acp = [
    "[agents.fake]",
    `command = "${join(ROOT, "test/fakes/fake-acp.cjs")}"`,
    `env = { FAKE_ACP_HOME = "${join(home, "acp")}" }`,
    'process = "shared"',
  ];
  writeFileSync(join(config, "config.toml"), `${acp.join("\n")}\n`, { mode: 0o600 });
  const codex = join(ROOT, "test/fakes/fake-codex.cjs");
  return { home, env: { BLEMEESD_CODEX: codex, ...SMALL_RING } };
}

/** The fakes understand the same directives. */
function makePrompt({ label, ticks, asks }: Script): string {
  const slow = `#slow ${ticks} ${PACE_MS}`;
  return `#say ${label} ${slow}${asks ? ` #ask ${label} ${slow}` : ""}`;
}

function makeText({ label, ticks, asks }: Script, word: string, told: string): string {
  const round = makeTicks(word, ticks);
  return `${label}${round}${asks ? `${told}${round}` : ""}`;
}

function makeTicks(word: string, count: number): string {
  return Array.from({ length: count }, (_, n) => `${word}${n} `).join("");
}

function describeToClaude({ label }: Script, answer: Answer | undefined): string {
  const told =
    decisionOf(answer) === "accept"
      ? { behavior: "allow", updatedInput: { command: label, description: "fake command" } }
      : { behavior: "deny", message: label };
  return JSON.stringify(told);
}
