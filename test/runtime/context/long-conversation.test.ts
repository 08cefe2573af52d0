// A conversation of 200 turns with 60 file reads: how often it loses the cached beginning, and what it keeps.
import { expect, test } from "vitest";
import type { Message } from "../../../src/runtime/messages.ts";
import { createScriptedProvider, type ScriptedReply } from "../../../src/runtime/providers/scripted/index.ts";
import type { ChatRequest } from "../../../src/runtime/providers/types.ts";
import { Stage, testTool } from "../stage.ts";

const TURNS = 200;
const READS = 60;
/** Three of ten turns. */
const READING = new Set([1, 2, 3]);
const PROBE = "End your last answer with the word MAGENTA.";
/** 12 kB, about 3,000 tokens as they are estimated. */
const FILE = "const value = compute(1);\n".repeat(470);
const SUMMARY = [
  "## Goal",
  "Review every part of the project.",
  "## Decisions",
  "- Parts are independent.",
  "## Files",
  "- src/: one file per part, all read",
  "## Open points",
  "- the remaining parts",
].join("\n");

const read = testTool({ name: "read_file", execute: async () => ({ ok: true, content: FILE }) });
const textOf = ({ content }: Message): string => (typeof content === "string" ? content : "");
const isFoldRequest = ({ messages }: ChatRequest): boolean =>
  textOf(messages.at(-1) as Message).includes("## Open points");

interface Conversation {
  stage: Stage;
  /** Without those that asked for a summary. */
  requests: ChatRequest[];
  folds: ChatRequest[];
}

/** The scripted model obeys what it is sent, and nothing else. */
async function converse(summary: ScriptedReply): Promise<Conversation> {
  const requests: ChatRequest[] = [];
  const folds: ChatRequest[] = [];
  const provider = createScriptedProvider({
    reply: (request) => {
      if (isFoldRequest(request)) {
        folds.push(request);
        return summary;
      }
      requests.push(request);
      const last = request.messages.at(-1) as Message;
      const turn = Number(/part (\d+)/.exec(textOf(last))?.[1] ?? Number.NaN);
      if (last.role === "user" && READING.has(turn % 10))
        return { text: "", toolCalls: [{ name: "read_file", input: { path: `src/part${turn}.ts` } }] };
      const isObeyed = request.messages.some((message) => textOf(message).includes(PROBE));
      return {
        text: `That part is fine. ${"It follows the conventions. ".repeat(12)}${isObeyed ? "MAGENTA" : ""}`,
      };
    },
  });
  const config = { context: { main: { maxContextTokens: 48_000 } } };
  const stage = new Stage({ provider, tools: [read], config, writesSummaries: true });
  await stage.run(`Review every part. ${PROBE}`);
  for (let turn = 1; turn < TURNS; turn += 1) await stage.run(`look at part ${turn}`);
  return { stage, requests, folds };
}

/** Requests that do not begin with all of the one before, byte by byte. */
function countPrefixChanges(requests: readonly ChatRequest[]): number {
  const bytes = ({ tools, messages }: ChatRequest) => [
    JSON.stringify(tools),
    ...messages.map((one) => JSON.stringify(one)),
  ];
  return requests.filter((request, n) => {
    const before = requests[n - 1];
    if (before === undefined) return false;
    const [old, now] = [bytes(before), bytes(request)];
    return old.some((text, at) => text !== now[at]);
  }).length;
}

test("keeps its beginning between folds, folds rarely, and loses no instruction", async () => {
  const { stage, requests, folds } = await converse({ text: SUMMARY });
  expect(requests).toHaveLength(TURNS + READS);
  const compacted = stage.of("context.compacted");
  expect(compacted.length).toBeGreaterThan(2);
  expect(compacted.length).toBeLessThanOrEqual(TURNS / 20);
  expect(countPrefixChanges(requests)).toBe(compacted.length);
  // Each summary is written by the model, at the end of its own cached request.
  expect(folds).toHaveLength(compacted.length);
  for (const fold of folds) {
    const before = requests.filter(({ messages }) => messages.length < fold.messages.length);
    expect(before.some((request) => countPrefixChanges([request, fold]) === 0)).toBe(true);
  }
  const last = requests.at(-1)?.messages ?? [];
  expect(textOf(last[1] as Message)).toContain("- src/: one file per part, all read");
  expect(textOf(last[1] as Message)).toContain(PROBE);
  expect(stage.services.history.messages.at(-1)?.content).toMatch(/MAGENTA$/);
  expect(stage.of("warning")).toEqual([]);
});

test.each<[string, ScriptedReply, RegExp]>([
  [
    "fails",
    { failure: { kind: "overloaded", message: "try later" } },
    /\(try later\); a summary by rule is used$/,
  ],
  ["leaves the structure", { text: "We talked about parts." }, /\(its summary has no section "Goal"\)/],
  ["calls a tool instead", { toolCalls: [{ name: "read_file", input: {} }] }, /no section "Goal"/],
  ["does not end", { text: `${SUMMARY} ${"on ".repeat(20_000)}` }, /\(its summary is too long\)/],
])("a model that %s gets the summary by rule, and is told the first request", async (_, summary, warning) => {
  const { stage, requests } = await converse(summary);
  expect(stage.of("warning")[0]?.message).toMatch(warning);
  expect(stage.of("context.compacted").length).toBeLessThanOrEqual(TURNS / 20);
  expect(textOf(requests.at(-1)?.messages[1] as Message)).toContain("## Files read");
  expect(stage.services.history.messages.at(-1)?.content).toMatch(/MAGENTA$/);
});
