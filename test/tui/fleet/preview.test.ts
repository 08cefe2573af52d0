// The request below the list, and `y`, which accepts it there.
import { expect, test } from "vitest";
import { applyChanges } from "../../../src/client/view/fleet.ts";
import type { RequestRow } from "../../../src/client/view/types.ts";
import { drawFleet } from "../../../src/tui/fleet/draw.ts";
import {
  type FleetState,
  type KeyContext,
  onKey,
  setFleet,
  setPending,
} from "../../../src/tui/fleet/state.ts";
import { aRequest } from "../inbox/inbox-world.ts";
import { aList, CONTEXT, NOW_MS, press } from "./fleet-world.ts";

const SIZE = { columns: 80, rows: 24 };
const PLAIN = { hasColor: false, isAscii: false };
const WAITS = { pending_requests: 1, activity_state: "waiting_permission" } as const;
const draw = (state: FleetState, size = SIZE) =>
  drawFleet(state, size, { look: PLAIN, nowMs: NOW_MS, top: 0 });

function listOf(...requests: RequestRow[]): FleetState {
  const list = aList(
    { session_id: "a", name: "fixer", cwd: "/home/me/shop", ...WAITS },
    { session_id: "b", name: "other" },
    { session_id: "kid", name: "kid", parent: "b" },
  );
  return setFleet(list, applyChanges(list.fleet, [{ kind: "requests", requests }]));
}

/** Presses `y` with the request on the screen as it is drawn. */
function accept(state: FleetState, { isRead = true, size = SIZE } = {}) {
  const { shown } = draw(state, size);
  const context: KeyContext = { ...CONTEXT, shown: shown === undefined ? undefined : { key: shown, isRead } };
  return onKey(state, { kind: "text", text: "y" }, context);
}

const REQUEST = aRequest("a");

test("the request of the selected session is below the list, and one key accepts it", () => {
  const list = listOf(REQUEST);
  const screen = draw(list).rows.join("\n");
  expect(screen).toMatch(/─ request ─+ y accept once {2}a all choices ─/);
  expect(screen).toMatch(/\? fixer \(claude\) in shop asks to run a command:\n {2}│ npm test/);
  const { state, effects } = accept(list);
  expect(effects).toEqual([{ kind: "respond", request: REQUEST, answer: { decision: "accept" } }]);
  expect(draw(state).rows.join("\n")).not.toContain("npm test");
  expect(accept(state).effects).toEqual([]);
  expect(accept(setPending(state, REQUEST)).effects).toHaveLength(1);
});

test("a key that comes before it can be read accepts nothing", () => {
  expect(accept(listOf(REQUEST), { isRead: false })).toMatchObject({
    effects: [],
    state: { message: { text: expect.stringContaining("read it, then press again") } },
  });
  expect(press(listOf(REQUEST), "y").effects).toEqual([]);
});

test("not one that changed since it was drawn", () => {
  const before = listOf(REQUEST);
  const { shown: key = "" } = draw(before);
  const changed = listOf({ ...REQUEST, shown_hash: "other" });
  const context = { ...CONTEXT, shown: { key, isRead: true } };
  expect(onKey(changed, { kind: "text", text: "y" }, context).effects).toEqual([]);
});

test("one that is longer than there is room, truncated, or a question is opened instead", () => {
  const long = aRequest("a", { command: Array.from({ length: 30 }, (_, at) => `line ${at}`).join("\n") });
  const question = aRequest("a", { questions: [{ id: "q", question: "Which?" }] });
  const choiceless = aRequest("a", { choices: [{ decision: "acceptAlways" }, { decision: "decline" }] });
  for (const request of [long, question, choiceless, { ...REQUEST, is_cut: true as const }]) {
    const list = listOf(request);
    expect(draw(list).rows.join("\n")).not.toContain("y accept");
    expect(accept(list).effects).toEqual([]);
    expect(press(list, "a").effects).toEqual([{ kind: "inbox", request_id: request.request_id }]);
  }
  expect(draw(listOf(long)).rows.join("\n")).toContain("more rows: a shows them");
  expect(draw(listOf(question)).rows.join("\n")).toContain("Which?");
});

test("in a small terminal there is no room for it, and nothing is accepted unseen", () => {
  const size = { columns: 80, rows: 12 };
  expect(draw(listOf(REQUEST), size).rows.join("\n")).not.toContain("npm test");
  expect(accept(listOf(REQUEST), { size }).effects).toEqual([]);
});

test("a parent shows the request of its child, and a the oldest one of all if there is none", () => {
  const list = listOf(aRequest("kid"));
  expect(press(list, "a").effects).toEqual([{ kind: "inbox", request_id: "req_kid" }]);
  expect(draw(list).rows.join("\n")).not.toContain("y accept");
  const parent = press(list, "g").state;
  expect(parent.selected).toBe("b");
  expect(draw(parent).rows.join("\n")).toContain("? kid (claude)");
  expect(accept(parent).effects).toMatchObject([{ kind: "respond", request: { session_id: "kid" } }]);
});

test("what a plain accept writes is shown with it", () => {
  const writes = [{ path: "/home/me/shop/.claude/plan.md", content: "the plan" }];
  const list = listOf(aRequest("a", { choices: [{ decision: "accept", writes }] }));
  expect(draw(list).rows.join("\n")).toContain("writes │ /home/me/shop/.claude/plan.md");
});

test("i opens the inbox, also an empty one", () => {
  expect(press(aList({}), "i").effects).toEqual([{ kind: "inbox" }]);
  expect(press(aList({}), "a").state.message?.text).toBe("no pending requests");
});
