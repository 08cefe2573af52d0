// Requests in the view: pending ones, their outcome, and the tool that waits with them.
import { describe, expect, test } from "vitest";
import { applyInputs } from "../../../src/client/view.ts";
import { noticeOf, pending, resolved } from "../request-rows.ts";
import { call, type Frame, notice, result, viewOf, withFrames } from "./view-inputs.ts";

const tells = (row: Parameters<typeof noticeOf>[0]) => noticeOf(row, 1) as Frame;
const LS = call("t", "Bash", { command: "ls" });
const ASKED = pending({ item_id: "t" });

test("a request is pending in the feed until the stream has its outcome", () => {
  const asked = viewOf([tells(ASKED)]);
  expect(asked.requests).toEqual([ASKED]);
  expect(asked.entries).toMatchObject([{ kind: "request", request: ASKED }]);
  const answered = withFrames(asked, tells(resolved(ASKED)));
  expect(answered.requests).toEqual([]);
  expect(answered.entries).toMatchObject([
    { id: "1", request: { status: "resolved", answer: { decision: "accept" }, payload: ASKED.payload } },
  ]);
});

test("the oldest pending request comes first, in whatever order they arrive", () => {
  const late = pending({ request_id: "late", requested_at_ms: 9 });
  const early = pending({ request_id: "early", requested_at_ms: 3 });
  expect(viewOf([tells(late), tells(early)]).requests.map(({ request_id }) => request_id)).toEqual([
    "early",
    "late",
  ]);
});

describe("the requested tool", () => {
  test.each([
    ["before", [LS, tells(ASKED)]],
    ["behind", [tells(ASKED), LS]],
  ])("is waiting when it comes %s the request, and runs when that is answered", (_when, frames) => {
    const tool = (view: ReturnType<typeof viewOf>) => view.entries.find(({ kind }) => kind === "tool");
    const view = viewOf(frames);
    expect(tool(view)).toMatchObject({ status: "waiting" });
    expect(tool(withFrames(view, tells(resolved(ASKED))))).toMatchObject({ status: "running" });
    expect(tool(withFrames(view, result("t", "no", { is_error: true })))).toMatchObject({
      status: "not_run",
    });
  });

  test("waits as long as one of its two requests does", () => {
    const other = pending({ item_id: "t", request_id: "other" });
    const view = viewOf([LS, tells(ASKED), tells(other), tells(resolved(ASKED))]);
    expect(view.entries[0]).toMatchObject({ status: "waiting" });
    expect(withFrames(view, tells(resolved(other))).entries[0]).toMatchObject({ status: "running" });
  });

  test("has the changes of its request", () => {
    const changes = [{ path: "a", kind: "update" as const, diff: "@@ -7 +7 @@\n-x\n+y" }];
    const row = pending({ item_id: "t", payload: { ...ASKED.payload, changes } });
    const edit = call("t", "Edit", { file_path: "a", old_string: "x", new_string: "y" });
    expect(viewOf([edit, tells(row)]).entries[0]).toMatchObject({ changes });
  });
});

describe("the list of pending requests", () => {
  const list = (view: ReturnType<typeof viewOf>, ...requests: (typeof ASKED)[]) =>
    applyInputs(view, [{ kind: "requests", requests }]);

  test("that is older than the question removes it only until the next list has it", () => {
    const asked = viewOf([LS, tells(ASKED)]);
    const again = list(list(asked), ASKED);
    expect(again.requests).toEqual([ASKED]);
    expect(again.entries).toMatchObject([{ status: "waiting" }, { request: { status: "pending" } }]);
  });

  test("adds what the feed does not have, and removes what is no longer pending", () => {
    const view = viewOf([LS, tells(ASKED)]);
    const other = pending({ request_id: "other" });
    const now = list(view, other);
    expect(now.requests).toEqual([other]);
    expect(now.entries).toMatchObject([{ status: "running" }, { request: { status: "withdrawn" } }]);
  });

  test("marks the tools that wait", () => {
    expect(list(viewOf([LS]), ASKED).entries).toMatchObject([{ status: "waiting" }]);
  });

  test("does not shorten what is known completely, unless it is another version", () => {
    const payload = { ...ASKED.payload, command: "mkdir …" };
    const cut = { ...ASKED, payload, is_cut: true as const };
    const view = viewOf([tells(ASKED)]);
    expect(list(view, cut).requests).toEqual([ASKED]);
    expect(list(view, cut).entries).toMatchObject([{ request: ASKED }]);
    const changed = { ...cut, shown_hash: "other" };
    expect(list(view, changed).requests).toEqual([changed]);
  });

  test("and the stream do not show one twice", () => {
    const view = withFrames(list(viewOf([]), ASKED), tells(ASKED));
    expect(view.requests).toEqual([ASKED]);
    expect(withFrames(view, tells(resolved(ASKED))).requests).toEqual([]);
  });
});

test("an update of a request older than the view is a notice", () => {
  expect(viewOf([tells(resolved(ASKED))]).entries).toMatchObject([
    { kind: "notice", category: "request_resolved", text: "Bash: mkdir -p build" },
  ]);
});

test.each([
  [{ request: { request_id: "r", status: "pending" } }],
  [{ request: { request_id: "r", status: "pending", payload: { title: "x", choices: [null] } } }],
  [{ request: { request_id: 1, status: "pending", payload: { title: "x", choices: [] } } }],
  [{ request: null }],
])("a notice with %j is no request to decide on", (data) => {
  const view = viewOf([notice("request_pending", { data, text: "odd" })]);
  expect(view.requests).toEqual([]);
  expect(view.entries).toMatchObject([{ kind: "notice", text: "odd" }]);
});
