// The script of the demo agent. A word in the prompt selects a scene; after a tool call the scene continues with its result.
import type { Message, ToolMessage } from "../messages.ts";
import { readUserText } from "../messages.ts";
import type { ScriptedReply } from "../providers/scripted/index.ts";
import { CLOCK, QUESTION, SHELL } from "./tools.ts";

interface Scene {
  word: RegExp;
  begin(): ScriptedReply;
  /** The reply to the tool's result. */
  continue?(answer: ToolMessage): ScriptedReply;
}

const COMMAND = "rm -rf build";
const SLOW_PACE_MS = 100;
const SLOW_WORDS = 300;

const SCENES: readonly Scene[] = [
  {
    word: /\bapprov(e|als?)\b/i,
    begin: () => ({ toolCalls: [{ name: SHELL, input: { command: COMMAND } }] }),
    continue: (answer) => ({ text: answer.isError ? describeRefusal(answer.content) : describeApproval() }),
  },
  {
    word: /\btools?\b/i,
    begin: () => ({ toolCalls: [{ name: CLOCK, input: { zone: "UTC" } }] }),
    continue: ({ content }) => ({ text: `The demo clock says ${content}.` }),
  },
  {
    word: /\bslow(ly)?\b/i,
    begin: () => ({
      text: Array.from({ length: SLOW_WORDS }, (_, index) => `tick ${index + 1}.`).join(" "),
      paceMs: SLOW_PACE_MS,
    }),
  },
  {
    word: /\bthink\b/i,
    begin: () => ({
      reasoning: "Let me pretend to think about that.",
      text: "I have thought: this is a demo.",
    }),
  },
  {
    word: /\bfail\b/i,
    begin: () => ({
      text: "I was asked to fail.",
      failure: { kind: "server", message: "this turn failed on request" },
    }),
  },
  // Last, because "ask for a tool" should match the tool scene.
  {
    word: /\b(ask|question)\b/i,
    begin: () => ({ toolCalls: [{ name: QUESTION, input: {} }] }),
    continue: ({ content, isError }) => ({
      text: isError ? "I got no answer." : `You said ${content}.`,
    }),
  },
];

export function performScene(messages: readonly Message[]): ScriptedReply {
  const prompt = findLastPrompt(messages);
  const scene = SCENES.find(({ word }) => word.test(prompt));
  if (scene === undefined) return { text: introduce(prompt) };
  const last = messages.at(-1);
  if (last?.role === "tool" && scene.continue !== undefined) return scene.continue(last);
  return scene.begin();
}

function findLastPrompt(messages: readonly Message[]): string {
  const last = messages.findLast((message) => message.role === "user");
  return last?.role === "user" ? readUserText(last) : "";
}

function introduce(prompt: string): string {
  return (
    `This is the blemees demo agent, not a language model. You said: "${prompt}". ` +
    "Ask for a tool, for something slow (and interrupt it), to think, or to fail; " +
    "let me ask you a question, or have something to approve."
  );
}

/** Passive, because the script does not know whether a user, a rule or a flag allowed it. */
function describeApproval(): string {
  return `It was allowed, so I pretended to run \`${COMMAND}\`.`;
}

/** Quotes the user's reason. Passive, because a request without an answer is declined too. */
function describeRefusal(content: string): string {
  if (!content.startsWith("The user denied this")) return "It was not allowed. I did nothing.";
  const reason = /^The user denied this: (.+)\. Do not try/s.exec(content)?.[1];
  return `It was declined${reason === undefined ? "" : `: "${reason}"`}. I did nothing.`;
}
