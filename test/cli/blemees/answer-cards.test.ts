// At a terminal each card is shown and confirmed once, before any of its requests is answered.
import { expect, test } from "vitest";
import { answerMany, type ManyOrder } from "../../../src/cli/blemees/answer-many.ts";
import type { BlemeesContext } from "../../../src/cli/blemees/command.ts";
import { createBlemeesWords } from "../../../src/cli/request-text.ts";
import type { RequestPort } from "../../../src/cli/requests.ts";
import { HttpClient, type RequestRow } from "../../../src/client/index.ts";
import { PAYLOAD, pending } from "../../client/request-rows.ts";
import { aView } from "../../client/session-views.ts";
import { memoryOutput } from "../memory-sink.ts";

const ROWS = ["a", "b", "c"].map((name, at) =>
  pending({
    request_id: `req_${name}0000000`,
    session_id: name,
    shown_hash: `hash of ${name}`,
    payload: { ...PAYLOAD, command: at === 2 ? "other" : "same" },
  }),
);
const IDS = ROWS.map(({ request_id }) => request_id);

interface World {
  answered: string[];
  asked: string[];
  stdout: { text: string };
  stderr: { text: string };
  run(more?: Partial<BlemeesContext>): Promise<number>;
}

/** `confirms`: what the user says to each card. `fails`: the session whose request is gone. */
function createWorld(confirms: boolean[], fails?: string): World {
  const answered: string[] = [];
  const asked: string[] = [];
  const { output, stdout, stderr } = memoryOutput();
  const port: RequestPort = {
    list: async () => ({
      requests: ROWS,
      sessions: ROWS.map(({ session_id }) => aView({ session_id, name: `kid-${session_id}`, cwd: "/w" })),
    }),
    get: async (id) => ROWS.find(({ request_id }) => request_id === id),
    findSession: async () => undefined,
    async respond(row, answer, shown_hash) {
      if (row.session_id === fails) throw new Error("withdrawn");
      answered.push(`${row.request_id} ${shown_hash}`);
      return { request: { ...row, answer } as RequestRow, repeated: false };
    },
  };
  const confirm = async (question: string): Promise<boolean> => {
    asked.push(question);
    return confirms.shift() === true;
  };
  const context = { output, isJson: false, words: createBlemeesWords("sm"), confirm };
  const order: ManyOrder = {
    verb: "approve",
    given: { flags: {}, words: IDS, many: {} },
    names: IDS,
    text: { text: "", words: [] },
    isRefusal: false,
    toAnswer: () => ({ decision: "accept" }),
  };
  const http = new HttpClient({ socket: "/nowhere.sock" });
  const run = (more = {}): Promise<number> =>
    answerMany(http, port, { ...context, ...more } as BlemeesContext, order);
  return { answered, asked, stdout, stderr, run };
}

test("each request is answered with its own hash", async () => {
  const { run, answered, asked, stdout, stderr } = createWorld([true, true]);
  expect(await run()).toBe(0);
  expect(asked).toEqual(["Send it to all 2?", "Send it?"]);
  expect(answered).toEqual(ROWS.map((row) => `${row.request_id} ${row.shown_hash}`));
  expect(stdout.text).toBe("run same: accepted 2 of 2\nrun other: accepted\n");
  expect(stderr.text).toContain("? kid-a (demo) and 1 more in w ask to run a command:\n  │ also kid-b\n");
});

test("a card that is not confirmed is not answered, and the next one is asked", async () => {
  const { run, answered, stderr } = createWorld([false, true]);
  expect(await run()).toBe(1);
  expect(answered).toEqual(["req_c0000000 hash of c"]);
  expect(stderr.text).toContain("run same: not answered: kid-a (not confirmed), kid-b (not confirmed)\n");
});

test("a request that is gone is reported, and the others of its card are answered", async () => {
  const { run, answered, stderr } = createWorld([true, true], "b");
  expect(await run()).toBe(1);
  expect(answered).toHaveLength(2);
  expect(stderr.text).toContain("run same: accepted 1 of 2; not answered: kid-b (withdrawn)\n");
});

test("an agent's own request among them: nothing is answered", async () => {
  const { run, answered, asked } = createWorld([true, true]);
  await expect(run({ self: "b" })).rejects.toMatchObject({
    code: "usage",
    message:
      "nothing done: 1 of 3 requests:\n  req_b0000000: an agent cannot answer its own request; its parent or the user answers it",
  });
  expect([answered, asked]).toEqual([[], []]);
});
