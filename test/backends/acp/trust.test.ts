// An agent that varies its requests: an answer counts only for what the user saw, and a session gets only its own
// events.
import { describe, expect, test } from "vitest";
import { toReply } from "../../../src/backends/acp/requests.ts";
import { AcpRouter, type AcpTenant } from "../../../src/backends/acp/router.ts";
import { readSettings } from "../../../src/backends/acp/settings.ts";
import { type AcpReport, type AcpState, createState } from "../../../src/backends/acp/state.ts";
import { beginTurn, type Frame, translate } from "../../../src/backends/acp/translate.ts";
import type { JsonObject } from "../../../src/base/json.ts";
import { silentLog } from "../../../src/base/log.ts";
import { fakeAgent } from "./fake.ts";

const OPTIONS = [
  { optionId: "y", name: "Yes", kind: "allow_once" },
  { optionId: "n", name: "No", kind: "reject_once" },
];
const END: Frame = { kind: "answer", answer: { result: { stopReason: "end_turn" } } };

function running(options: { approvals?: boolean } = {}): AcpState {
  const parts = { backend: "x", sessionId: "s", cwd: "/p", options, agent: {}, isNew: true };
  const state = createState({ ...parts, settings: readSettings({}) });
  beginTurn(state);
  return state;
}

const asking = (id: number, toolCall: JsonObject): Frame => ({
  kind: "request",
  id,
  method: "session/request_permission",
  params: { sessionId: "s", toolCall: { toolCallId: `t${id}`, ...toolCall }, options: OPTIONS },
});
const updating = (update: JsonObject): Frame => ({
  kind: "notification",
  method: "session/update",
  params: { sessionId: "s", update },
});
const asksIn = (reports: AcpReport[]) =>
  reports.flatMap((report) => (report.kind === "ask" ? [report.ask] : []));
const kindsOf = (reports: AcpReport[]) => reports.map(({ kind }) => kind);

/** Whether the second call is asked after the first was allowed for the session. */
function isAskedAgain(first: JsonObject, second: JsonObject): boolean {
  const state = running();
  const [asked] = asksIn(translate(state, asking(1, first)));
  expect(asked?.payload.choices.map(({ decision }) => decision)).toContain("acceptForSession");
  toReply(state, asked?.native_id ?? "", { decision: "acceptForSession" });
  return asksIn(translate(state, asking(2, second))).length === 1;
}

describe("what was allowed for the session", () => {
  const run = { kind: "execute", title: "ls", rawInput: { command: "ls", description: "list" } };
  const issue = { kind: "other", name: "issue", rawInput: { title: "a", description: "b" } };
  const edit = { kind: "edit", name: "edit", rawInput: { path: "a" }, locations: [{ path: "/p/a" }] };

  test("is allowed again, whatever the text beside the command", () => {
    expect(isAskedAgain(run, run)).toBe(false);
    expect(isAskedAgain(run, { ...run, title: "y", rawInput: { description: "y", command: "ls" } })).toBe(
      false,
    );
    expect(isAskedAgain(issue, issue)).toBe(false);
    expect(isAskedAgain(edit, edit)).toBe(false);
  });

  test.each<[string, JsonObject, JsonObject]>([
    ["another directory", run, { ...run, rawInput: { command: "ls", cwd: "/etc" } }],
    ["another tool with this input", run, { ...run, name: "other_shell" }],
    ["another kind with this input", run, { ...run, kind: "fetch" }],
    [
      "a description that is input",
      issue,
      { ...issue, rawInput: { title: "a", description: "everything else" } },
    ],
    ["another place", edit, { ...edit, locations: [{ path: "/etc/passwd" }] }],
    [
      "another change",
      edit,
      { ...edit, content: [{ type: "diff", path: "/p/a", oldText: "1", newText: "2" }] },
    ],
    [
      "a title that is shown as the command",
      { kind: "execute", title: "ls", rawInput: { n: 1 } },
      { kind: "execute", title: "rm -rf /", rawInput: { n: 1 } },
    ],
  ])("does not allow %s", (_what, first, second) => {
    expect(isAskedAgain(first, second)).toBe(true);
  });
});

test("the text beside a command is the reason, without the command itself", () => {
  const words = (...texts: string[]) =>
    texts.map((text) => ({ type: "content", content: { type: "text", text } }));
  const reason = (...texts: string[]) => {
    const call = { kind: "execute", rawInput: { command: "ls" }, content: words(...texts) };
    return asksIn(translate(running(), asking(1, call)))[0]?.payload.reason;
  };
  expect(reason("ls")).toBeUndefined();
  expect(reason("$ ls")).toBeUndefined();
  expect(reason("$ ls", "to look around")).toBe("to look around");
});

test("a second request with the id of a pending one is ignored: the answer and its rule belong to the first one", () => {
  const state = running();
  const [asked] = asksIn(translate(state, asking(1, { kind: "execute", rawInput: { command: "ls" } })));
  const again = translate(
    state,
    asking(1, { toolCallId: "u", kind: "execute", rawInput: { command: "evil" } }),
  );
  expect(again).toMatchObject([{ kind: "event", event: { category: "request_unsupported" } }]);
  toReply(state, asked?.native_id ?? "", { decision: "acceptForSession" });
  const evil = translate(state, asking(2, { kind: "execute", rawInput: { command: "evil" } }));
  expect(asksIn(evil)).toHaveLength(1);
  expect(asksIn(translate(state, asking(3, { kind: "execute", rawInput: { command: "ls" } })))).toEqual([]);
});

test.each([{}, { approvals: false }])(
  "a request after the end of the turn is refused and never shown: %o",
  (options) => {
    const state = running(options);
    translate(state, END);
    const late = translate(state, asking(1, { kind: "execute", rawInput: { command: "ls" } }));
    expect(kindsOf(late)).toEqual(["event", "reply"]);
    expect(late[1]).toMatchObject({ result: { outcome: { outcome: "cancelled" } } });
    const form = { mode: "form", requestedSchema: { properties: { a: { type: "string" } } } };
    const elicited = translate(state, { kind: "request", id: 2, method: "elicitation/create", params: form });
    expect(elicited[1]).toMatchObject({ kind: "reply", result: { action: "cancel" } });
    expect(state.asks.size).toBe(0);
  },
);

test("a tool call with the id of a finished one is a new tool, in the same turn and in the next", () => {
  const state = running();
  const call = { toolCallId: "call_0", rawInput: { a: 1 } };
  const turn = [
    updating({ sessionUpdate: "tool_call", ...call }),
    updating({ sessionUpdate: "tool_call_update", toolCallId: "call_0", status: "completed" }),
  ];
  const told = [...turn, ...turn, END].flatMap((frame) => translate(state, frame));
  beginTurn(state);
  const asked = translate(state, asking(7, { ...call, kind: "execute", rawInput: { command: "ls" } }));
  expect(asksIn(asked)).toMatchObject([{ item_id: "call_0" }]);
  told.push(...asked, ...translate(state, END));
  const types = told.flatMap((report) => (report.kind === "event" ? [report.event.type] : []));
  expect(types.filter((type) => type === "agent.tool_use")).toHaveLength(3);
  expect(types.filter((type) => type === "agent.tool_result")).toHaveLength(3);
});

describe("in a shared process", () => {
  test("an update without a session id goes only to a session that is alone", () => {
    const heard: string[] = [];
    const tenant = (name: string): AcpTenant => ({ deliver: () => heard.push(name) });
    const router = new AcpRouter({ refuse: () => undefined, log: silentLog });
    const update = { kind: "notification", method: "session/update", params: { update: {} } } as const;
    router.route(update, 1);
    router.claim("a", tenant("a"));
    expect(heard).toEqual([]);
    router.route(update, 1);
    router.claim("b", tenant("b"));
    router.route(update, 1);
    expect(heard).toEqual(["a"]);
    router.route({ kind: "notification", method: "_auth/status_update", params: {} }, 1);
    expect(heard).toEqual(["a", "a", "b"]);
  });

  test("an id that the agent assigns twice opens no second session, and the first one continues", async () => {
    const agent = fakeAgent({ sameId: true }, { spec: { process: "shared" } });
    const first = await agent.start();
    await expect(agent.start()).rejects.toMatchObject({
      code: "spawn_failed",
      message: expect.stringMatching(/is open in another session/),
    });
    await first.run.send({ role: "user", content: "#say mine" });
    await first.sink.untilResults(1);
    expect(first.sink.texts).toEqual(["mine"]);
  });
});
