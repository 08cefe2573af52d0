// What the demo agent says. A word of the prompt chooses the scene; after a tool call it goes on from the tool's answer.
import type { Message, ToolMessage } from "../messages.ts";
import { textOfUser } from "../messages.ts";
import type { ScriptedReply } from "../providers/scripted/index.ts";
import { CLOCK, QUESTION, SHELL } from "./tools.ts";

interface Scene {
  word: RegExp;
  begin(): ScriptedReply;
  /** What it says to the answer of its tool. */
  goOn?(answer: ToolMessage): ScriptedReply;
}

const COMMAND = "rm -rf build";
const SLOW_PACE_MS = 100;
const SLOW_WORDS = 300;

const SCENES: readonly Scene[] = [
  {
    word: /\bapprov(e|als?)\b/i,
    begin: () => ({ toolCalls: [{ name: SHELL, input: { command: COMMAND } }] }),
    goOn: (answer) => ({ text: answer.isError ? refusal(answer.content) : approval() }),
  },
  {
    word: /\btools?\b/i,
    begin: () => ({ toolCalls: [{ name: CLOCK, input: { zone: "UTC" } }] }),
    goOn: ({ content }) => ({ text: `The demo clock says ${content}.` }),
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
  // Last, because "ask for a tool" asks for a tool.
  {
    word: /\b(ask|question)\b/i,
    begin: () => ({ toolCalls: [{ name: QUESTION, input: {} }] }),
    goOn: ({ content, isError }) => ({
      text: isError ? "I got no answer." : `You said ${content}.`,
    }),
  },
];

export function performScene(messages: readonly Message[]): ScriptedReply {
  const prompt = lastPrompt(messages);
  const scene = SCENES.find(({ word }) => word.test(prompt));
  if (scene === undefined) return { text: introduction(prompt) };
  const last = messages.at(-1);
  if (last?.role === "tool" && scene.goOn !== undefined) return scene.goOn(last);
  return scene.begin();
}

function lastPrompt(messages: readonly Message[]): string {
  const last = messages.findLast((message) => message.role === "user");
  return last?.role === "user" ? textOfUser(last) : "";
}

function introduction(prompt: string): string {
  return (
    `This is the blemees demo agent, not a language model. You said: "${prompt}". ` +
    "Ask for a tool, for something slow (and interrupt it), to think, or to fail; " +
    "let me ask you a question, or have something to approve."
  );
}

/** By a person, a rule or a flag: the script is not told which, and does not claim to know. */
function approval(): string {
  return `It was allowed, so I pretended to run \`${COMMAND}\`.`;
}

/** Repeats a person's reason. Who declined is not known here either: a request that nobody answers is declined too. */
function refusal(content: string): string {
  if (!content.startsWith("The user denied this")) return "It was not allowed. I did nothing.";
  const words = /^The user denied this: (.+)\. Do not try/s.exec(content)?.[1];
  return `It was declined${words === undefined ? "" : `: "${words}"`}. I did nothing.`;
}
