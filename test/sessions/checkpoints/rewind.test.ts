import { expect, test, vi } from "vitest";
import type { CheckpointRecord } from "../../../src/sessions/checkpoints/records.ts";
import { listRemembered } from "../../../src/sessions/checkpoints/spans.ts";
import { PATIENT } from "../../support/patience.ts";
import { gate } from "../fakes.ts";
import { runOf, type World } from "../system.ts";
import { openPlace, type Place } from "./place.ts";

async function openWithTurns(texts: readonly string[]): Promise<{ place: Place; turns: string[] }> {
  const place = await openPlace();
  for (const text of texts) await place.turn(() => place.write("a.txt", text));
  const { turns } = await place.on.manager.changes("s", { limit: 9 });
  return { place, turns: turns.map(({ turn_id }) => turn_id) };
}

const forgottenOf = (on: World) => on.backend.runs.flatMap(({ forgotten }) => forgotten);

/** In the stored log. */
function noticesOf({ store }: World): unknown[] {
  const lines = store.log.flatMap(({ bytes }) => Buffer.from(bytes).toString().trim().split("\n"));
  const frames = lines.map((line) => JSON.parse(line) as { category?: string; data?: unknown });
  return frames.filter(({ category }) => category === "conversation_rewound").map(({ data }) => data);
}

test("the agent forgets the turns that are undone, and is stopped and started again", async () => {
  const { place, turns } = await openWithTurns(["1\n", "2\n", "3\n"]);
  const { on } = place;
  expect(runOf(on, "s").turns).toEqual(turns);
  const plan = await on.manager.undo("s", { turn: 2, dry_run: true });
  expect(plan.conversation).toEqual({ rewound: false, is_possible: true });
  const reply = await on.manager.undo("s", { turn: 2 });
  expect(reply).toMatchObject({ done: true, conversation: { rewound: true, turn: 2 } });
  expect(forgottenOf(on)).toEqual([turns.slice(1)]);
  expect(on.backend.runs[0]?.calls).toContain("stop finish");
  await on.manager.wait({ session_id: "s", until: ["idle"], timeoutMs: PATIENT.timeout });
  await vi.waitFor(() => expect(on.backend.alive).toHaveLength(1), PATIENT);
  expect(noticesOf(on)).toEqual([{ turn: 2, turn_ids: turns.slice(1) }]);
  await place.turn(() => place.write("a.txt", "4\n"));
  expect(on.backend.runs).toHaveLength(2);
  expect(runOf(on, "s").order.resume).toBe(true);
});

test("what it has forgotten is not asked for again", async () => {
  const { place, turns } = await openWithTurns(["1\n", "2\n"]);
  const { on } = place;
  await on.manager.undo("s", {});
  await place.turn(() => place.write("a.txt", "3\n"));
  const third = runOf(on, "s").turns[0];
  await on.manager.undo("s", { turn: 1 });
  expect(forgottenOf(on)).toEqual([[turns[1]], [turns[0], third]]);
  expect(await on.manager.undo("s", { turn: 1 })).toMatchObject({
    done: false,
    conversation: { rewound: false, reason: "the agent has forgotten these turns already" },
  });
});

test("a stopped session of an earlier daemon is started to forget", async () => {
  const { place, turns } = await openWithTurns(["1\n", "2\n"]);
  await place.on.manager.stop("s", { tree: false });
  const later = await place.again();
  expect(await later.manager.undo("s", {})).toMatchObject({ conversation: { rewound: true, turn: 2 } });
  expect(forgottenOf(later)).toEqual([[turns[1]]]);
  expect(runOf(later, "s").isOver).toBe(true);
});

test("a turn that changed no file can be undone in the conversation alone", async () => {
  const { place, turns } = await openWithTurns(["1\n"]);
  await place.turn(() => undefined);
  expect(await place.on.manager.undo("s", { turn: 2 })).toMatchObject({
    done: true,
    files: [],
    conversation: { rewound: true, turn: 2 },
  });
  expect(forgottenOf(place.on)).toHaveLength(1);
  expect(turns).toHaveLength(1);
});

test.each([
  ["files only", { files_only: true }, "only files were asked for"],
  ["some files", { files: ["a.txt"] }, "not all files of these turns are undone"],
])("%s: the conversation stays", async (_name, order, reason) => {
  const { place } = await openWithTurns(["1\n", "2\n"]);
  const conversation = { rewound: false, reason };
  expect(await place.on.manager.undo("s", { ...order, dry_run: true })).toMatchObject({ conversation });
  expect(await place.on.manager.undo("s", order)).toMatchObject({ done: true, conversation });
  expect([forgottenOf(place.on), place.read("a.txt")]).toEqual([[], "1\n"]);
});

test("an agent that cannot forget keeps its conversation, and the reply says so", async () => {
  const { place } = await openWithTurns(["1\n"]);
  place.on.backend.canRewind = false;
  const conversation = { rewound: false, reason: "fake cannot forget turns" };
  expect(await place.on.manager.undo("s", { dry_run: true })).toMatchObject({ conversation });
  expect(await place.on.manager.undo("s", {})).toMatchObject({ done: true, conversation });
  expect([noticesOf(place.on), place.read("a.txt")]).toEqual([[], "one\ntwo\nthree\n"]);
});

test("an agent that forgets only the later turns: reply and notice say which", async () => {
  const { place, turns } = await openWithTurns(["1\n", "2\n"]);
  runOf(place.on, "s").rewound = Promise.resolve({ first: turns[1] ?? "", reason: "not the first" });
  const reply = await place.on.manager.undo("s", { turn: 1 });
  expect(reply.conversation).toEqual({ rewound: false, turn: 2, reason: "not the first" });
  expect(noticesOf(place.on)).toEqual([{ turn: 2, turn_ids: [turns[1]] }]);
});

test("an agent that does not start: the files are undone, and the reason is reported", async () => {
  const { place } = await openWithTurns(["1\n"]);
  await place.on.manager.stop("s", { tree: false });
  place.on.backend.failing = new Error("no room");
  const reply = await place.on.manager.undo("s", {});
  expect(reply).toMatchObject({ done: true, conversation: { rewound: false, reason: "no room" } });
});

test("a message that arrives meanwhile waits until the agent has forgotten", async () => {
  const { place } = await openWithTurns(["1\n"]);
  const { on } = place;
  const first = runOf(on, "s");
  const asked = gate();
  first.rewound = asked.passed.then(() => ({ first: first.forgotten[0]?.[0] ?? "" }));
  const undone = on.manager.undo("s", {});
  await vi.waitFor(() => expect(first.forgotten).toHaveLength(1), PATIENT);
  await place.on.manager.input({ session_id: "s", message: { role: "user", content: "next" } });
  expect([on.backend.runs.length, first.sent.length]).toEqual([1, 1]);
  asked.open();
  expect(await undone).toMatchObject({ conversation: { rewound: true } });
  await vi.waitFor(() => expect(runOf(on, "s").sent).toHaveLength(1), PATIENT);
  expect(runOf(on, "s")).not.toBe(first);
});

test("an agent that ends while it is asked is reported, and the session continues", async () => {
  const { place } = await openWithTurns(["1\n"]);
  const { on } = place;
  const run = runOf(on, "s");
  const asked = gate();
  run.rewound = asked.passed.then(() => ({ reason: "the agent has ended" }));
  const undone = on.manager.undo("s", {});
  await vi.waitFor(() => expect(run.forgotten).toHaveLength(1), PATIENT);
  run.end(false, 1);
  asked.open();
  expect((await undone).conversation).toEqual({ rewound: false, reason: "the agent has ended" });
  await place.turn(() => place.write("b.txt", "x\n"));
});

test("turns that were forgotten before are not among those that are remembered", () => {
  const turn = (n: number): CheckpointRecord[] => {
    const of = { at_ms: 1, root: "/r", turn: n, turn_id: `t${n}`, tree: "0".repeat(40) };
    return [
      { n: 2 * n, kind: "start", ...of },
      { n: 2 * n + 1, kind: "end", ...of },
    ];
  };
  const rewound = (first: number): CheckpointRecord => ({
    ...{ n: 0, kind: "undo_after", at_ms: 1, root: "/r", rewound: first },
  });
  const records = [...turn(1), ...turn(2), ...turn(3), rewound(2), ...turn(4)];
  expect(listRemembered(records, 1).map((one) => one.turn)).toEqual([1, 4]);
  expect(listRemembered(records, 2).map((one) => one.turn)).toEqual([4]);
  expect(listRemembered([...records, rewound(4)], 2)).toEqual([]);
});
