// What the demo agent says. The prompt chooses the scene: "approve", "tool", "slow", "think", "fail", "ask",
// anything else.
import { setTimeout as sleep } from "node:timers/promises";
import type { AgentEvent } from "../../protocol/events.ts";
import { APPROVAL, QUESTIONING, SHELL } from "./asking.ts";
import { backend, type Scene, type Stage } from "./scene.ts";

export const DEMO_MODEL = "demo-scripted";
export const DEMO_TOOLS = ["demo_clock", SHELL];

const PACE_MS = 20;
const SLOW_PACE_MS = 100;
const SLOW_WORDS = 300;

const SCENES: Scene[] = [
  APPROVAL,
  {
    word: /\btools?\b/i,
    async *play({ say }) {
      const tool_use_id = `demo_${Date.now().toString(36)}`;
      yield { type: "agent.tool_use", backend, tool_use_id, name: "demo_clock", input: { zone: "UTC" } };
      const output = new Date().toISOString();
      yield { type: "agent.tool_result", backend, tool_use_id, output };
      yield* say(`The demo clock says ${output}.`);
    },
  },
  {
    word: /\bslow(ly)?\b/i,
    play: ({ say }) =>
      say(Array.from({ length: SLOW_WORDS }, (_, index) => `tick ${index + 1}.`).join(" "), {
        paceMs: SLOW_PACE_MS,
      }),
  },
  {
    word: /\bthink\b/i,
    async *play({ say }) {
      yield* say("Let me pretend to think about that.", { kind: "thinking" });
      yield* say("I have thought: this is a demo.");
    },
  },
  {
    word: /\bfail\b/i,
    async *play({ say }) {
      yield* say("I was asked to fail.");
      yield {
        type: "agent.result",
        backend,
        subtype: "error",
        error: { code: "demo_failure", message: "this turn failed on request" },
      };
    },
  },
  // Last, because "ask for a tool" asks for a tool.
  QUESTIONING,
];

export async function* performScript(
  prompt: string,
  paceMs: number | undefined,
  signal: AbortSignal,
  person: Pick<Stage, "ask" | "allowed">,
): AsyncIterable<AgentEvent> {
  const say: Stage["say"] = (text, options = {}) => stream(text, { paceMs, ...options }, signal);
  const scene = SCENES.find((candidate) => candidate.word.test(prompt));
  if (scene !== undefined) {
    yield* scene.play({ say, ...person });
    return;
  }
  yield* say(
    `This is the blemees demo agent, not a language model. You said: "${prompt}". ` +
      "Ask for a tool, for something slow (and interrupt it), to think, or to fail; " +
      "let me ask you a question, or have something to approve.",
  );
}

async function* stream(
  text: string,
  options: { paceMs?: number | undefined; kind?: "text" | "thinking" },
  signal: AbortSignal,
): AsyncIterable<AgentEvent> {
  const { paceMs = PACE_MS, kind = "text" } = options;
  let said = "";
  for (const word of text.match(/\S+\s*/g) ?? []) {
    if (paceMs > 0) await sleep(paceMs, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) break;
    said += word;
    yield { type: "agent.delta", backend, kind, text: word };
  }
  if (kind === "text" && said !== "") {
    yield { type: "agent.message", backend, role: "assistant", content: [{ type: "text", text: said }] };
  }
}
