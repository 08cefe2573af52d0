// Every setting of delegation and of its budgets does something: the same work, with one of them set, is not the same on
// the wire.
import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CONFIG_VARIABLES } from "../../../src/runtime/config/environment.ts";
import { anthropicReply, chatReply, type Reply } from "../../support/model-server.ts";
import { subAgent, Team } from "./team.ts";

let team: Team;

beforeAll(async () => {
  team = await Team.start();
});

afterAll(() => team.close());

const words = (word: string, count: number) =>
  Array.from({ length: count }, (_, at) => `${word}${at}`).join("_");
const hands = (id: string, task: string): Reply =>
  chatReply("", [
    { id, name: "delegate_agent", input: { agent: "reviewer", task, context: words("context", 600) } },
  ]);

/** Where everything has room, where some has, and where nothing has: each setting matters in one of them. */
const ROOMS: readonly Change[] = [
  { subAgent: { maxContextTokens: 60_000 } },
  { main: { maxContextTokens: 16_000, recentTurns: 3 }, subAgent: { maxContextTokens: 6000 } },
  { main: { maxContextTokens: 4800, recentTurns: 2, minRecentTurns: 1, summaryTargetTokens: 400 } },
  { main: { maxContextTokens: 7000 }, subAgent: { maxContextTokens: 2600, summaryTargetTokens: 300 } },
];

type Change = Record<string, Record<string, unknown>>;

/** What both providers got, without what is random. */
async function work(context: Change, more: Record<string, unknown> = {}): Promise<string> {
  const { main, other, place } = team;
  main.requests.length = 0;
  other.requests.length = 0;
  // Names of kept outputs are taken only once.
  rmSync(join(place.cwd, ".demian"), { recursive: true, force: true });
  place.write("a.txt", `${words("line", 300)}\n`.repeat(2));
  const reviewer = subAgent({ provider: { profile: "b" }, delegation: { invocationDecision: "allow" } });
  // A summary that the model writes would take a reply.
  const ruled = { compression: "deterministic", ...context["main"] };
  team.configure({ agents: { reviewer }, context: { ...context, main: ruled }, ...more });
  for (const turn of [1, 2, 3, 4]) {
    main.script(hands(`d${turn}`, `task ${turn} ${words("task", 60)}`), chatReply(`answer ${turn}`));
    other.script(
      anthropicReply("", [{ id: `r${turn}`, name: "read_file", input: { path: "a.txt" } }]),
      anthropicReply(`report ${turn}\n\n## Findings\n${words(`finding${turn}`, 500)}`),
    );
  }
  const { session } = await team.open();
  for (const turn of [1, 2, 3, 4]) await session.run({ text: `question ${turn} ${words("question", 40)}` });
  return (
    JSON.stringify([...main.requests, ...other.requests].map(({ body }) => body))
      .replaceAll(session.id, "ses")
      // Where a result is cut, only the end of the id may be left.
      .replace(/[0-9a-f-]+\/session\.jsonl/g, "ses/session.jsonl")
      .replace(/(inv|as)_[\w-]+/g, "$1")
      .replace(/output-[\w-]+\.txt/g, "output")
  );
}

const usual = new Map<Change, string>();

/** Whether it makes a difference anywhere. */
async function matters(changed: (room: Change) => Promise<string>): Promise<boolean> {
  for (const room of ROOMS) {
    const before = usual.get(room) ?? (await work(room));
    usual.set(room, before);
    if ((await changed(room)) !== before) return true;
  }
  return false;
}

const VARIABLES: Readonly<Record<string, string>> = {
  DEMIAN_MAIN_MAX_CONTEXT_TOKENS: "3500",
  DEMIAN_MAIN_COMPACT_AT_RATIO: "1",
  DEMIAN_MAIN_SUMMARY_TARGET_TOKENS: "100",
  DEMIAN_MAIN_KEEP_RAW_DELEGATE_RESULTS: "0",
  DEMIAN_MAIN_MAX_DELEGATE_RESULT_TOKENS: "200",
  DEMIAN_SUB_MAX_CONTEXT_TOKENS: "12000",
  DEMIAN_SUB_COMPACT_AT_RATIO: "1",
  DEMIAN_SUB_SUMMARY_TARGET_TOKENS: "50",
  DEMIAN_SUB_RECENT_TURNS: "1",
  DEMIAN_SUB_MAX_HANDOFF_TOKENS: "100",
  DEMIAN_SUB_MAX_DELEGATE_CONTEXT_TOKENS: "50",
  DEMIAN_SUB_MAX_RESULT_TOKENS_TO_MAIN: "100",
};

describe("what is set is used", () => {
  test("the same work is the same on the wire", async () => {
    expect(await matters(work)).toBe(false);
  });

  test("of all variables", () => {
    expect(Object.keys(VARIABLES)).toEqual(Object.keys(CONFIG_VARIABLES));
  });

  test.each(Object.entries(VARIABLES))("%s", async (variable, value) => {
    const changed = async (room: Change) => {
      team.place.env[variable] = value;
      const sent = await work(room);
      delete team.place.env[variable];
      return sent;
    };
    expect(await matters(changed)).toBe(true);
  });

  test.each<[string, Change]>([
    ["main.minRecentTurns", { main: { minRecentTurns: 2 } }],
    ["main.compression", { main: { compression: "model" } }],
    ["main.maxRawMessages", { main: { maxRawMessages: 2 } }],
    ["main.ledgerTargetTokens", { main: { ledgerTargetTokens: 10 } }],
    ["subAgent.minRecentTurns", { subAgent: { minRecentTurns: 3 } }],
    ["subAgent.compression none", { subAgent: { compression: "none" } }],
    ["subAgent.compression summary-and-recent", { subAgent: { compression: "summary-and-recent" } }],
  ])("context.%s", async (_name, change) => {
    const both = (room: Change) => ({
      main: { ...room["main"], ...change["main"] },
      subAgent: { ...room["subAgent"], ...change["subAgent"] },
    });
    expect(await matters((room) => work(both(room)))).toBe(true);
  });

  test.each([
    ["maxDepth", { delegation: { maxDepth: 0 } }],
    ["subInvocationMaxTurns", { delegation: { subInvocationMaxTurns: 1 } }],
  ])("delegation.%s", async (_name, more) => {
    expect(await matters((room) => work(room, more))).toBe(true);
  });
});
