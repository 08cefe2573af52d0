// The translator with handmade frames: what no recorded agent did, and what must not break it.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { toReply } from "../../../src/backends/acp/requests.ts";
import { readSettings } from "../../../src/backends/acp/settings.ts";
import { type AcpReport, type AcpState, createState } from "../../../src/backends/acp/state.ts";
import {
  abandonTurn,
  beginTurn,
  cancelTurn,
  type Frame,
  translate,
} from "../../../src/backends/acp/translate.ts";
import type { JsonObject } from "../../../src/base/json.ts";
import { AgentEvent } from "../../../src/protocol/events.ts";
import { RequestPayload } from "../../../src/protocol/requests.ts";
import { readTraces } from "./traces.ts";

function running(): AcpState {
  const parts = { backend: "x", sessionId: "s", cwd: "/p", options: {}, agent: {}, isNew: true };
  const state = createState({ ...parts, settings: readSettings({}) });
  beginTurn(state);
  return state;
}

const update = (body: JsonObject): Frame => ({
  kind: "notification",
  method: "session/update",
  params: { sessionId: "s", update: body },
});
const tool = (body: JsonObject) => update({ sessionUpdate: "tool_call_update", toolCallId: "t", ...body });
const events = (reports: AcpReport[]) =>
  reports.flatMap((report) => (report.kind === "event" ? [report.event] : []));
const end: Frame = { kind: "answer", answer: { result: { stopReason: "end_turn" } } };

describe("tools", () => {
  test("updates after a tool's result are late, in this turn and in the next one, and not a new tool", () => {
    const state = running();
    const told = [
      tool({ status: "completed", rawInput: { a: 1 }, rawOutput: "one" }),
      tool({ status: "completed", rawOutput: "two" }),
      end,
    ].flatMap((frame) => events(translate(state, frame)));
    beginTurn(state);
    told.push(
      ...events(translate(state, tool({ status: "failed", rawOutput: "three" }))),
      ...events(translate(state, end)),
    );
    expect(told.map((event) => ("category" in event ? event.category : event.type))).toEqual([
      "agent.tool_use",
      "agent.tool_result",
      "late_result",
      "agent.result",
      "late_result",
      "agent.result",
    ]);
  });

  test("the output is that of the last update, not the tool's announced input", () => {
    const state = running();
    const content = [{ type: "content", content: { type: "text", text: "why" } }];
    translate(state, tool({ status: "pending", rawInput: { command: "x" }, content }));
    const [result] = events(translate(state, tool({ status: "completed", rawOutput: "what" })));
    expect(result).toMatchObject({ type: "agent.tool_result", output: "what", is_error: false });
  });

  test("the pieces of a terminal are the output if there is no other, with the exit code", () => {
    const state = running();
    translate(state, tool({ status: "in_progress", rawInput: { command: "x" } }));
    translate(state, tool({ _meta: { terminal_output_delta: { data: "a\n" } } }));
    translate(state, tool({ _meta: { terminal_output_delta: { data: "b" } } }));
    const last = tool({ status: "completed", _meta: { terminal_exit: { exit_code: 2 } } });
    expect(events(translate(state, last))).toMatchObject([{ output: "a\nb\n[exit code 2]", is_error: true }]);
  });

  test("an input that grows is reported when it appears, and again when it is complete", () => {
    const state = running();
    const told = [
      { rawInput: {} },
      { rawInput: { cwd: "/" } },
      { rawInput: { a: 1 } },
      { rawInput: { a: 1, b: 2 } },
    ]
      .map(tool)
      .map((frame) => events(translate(state, frame)).map(({ type }) => type));
    expect(told).toEqual([[], [], ["agent.tool_use"], ["agent.notice"]]);
  });
});

test("a request after a cancel is answered at once, and never shown", () => {
  const state = running();
  cancelTurn(state);
  const params = {
    toolCall: { toolCallId: "t", title: "x" },
    options: [{ optionId: "y", kind: "allow_once" }],
  };
  const frame: Frame = { kind: "request", id: 0, method: "session/request_permission", params };
  expect(translate(state, frame)).toEqual([
    { kind: "reply", id: 0, result: { outcome: { outcome: "cancelled" } } },
  ]);
});

test("the reason of a refusal is sent only to demian", () => {
  const params = {
    toolCall: { toolCallId: "t", rawInput: { command: "x" }, kind: "execute" },
    options: [{ optionId: "no", kind: "reject_once" }],
  };
  const refuse = (agent: JsonObject) => {
    const state = { ...running(), agent };
    const reports = translate(state, {
      kind: "request",
      id: 0,
      method: "session/request_permission",
      params,
    });
    const ask = reports.flatMap((report) => (report.kind === "ask" ? [report.ask] : []))[0];
    const takes = ask?.payload.choices.find(({ decision }) => decision === "decline")?.takes;
    return { takes, reply: toReply(state, "0", { decision: "decline", message: "too risky" })?.result };
  };
  const outcome = { outcome: "selected", optionId: "no" };
  expect(refuse({})).toEqual({ takes: undefined, reply: { outcome } });
  const demian = refuse({ _meta: { demian: {} } });
  expect(demian).toEqual({
    takes: ["message"],
    reply: { outcome, _meta: { blemees: { reason: "too risky" } } },
  });
});

describe("whatever an agent sends", () => {
  const frames = readTraces().flatMap(({ steps }) =>
    steps.flatMap(({ dir, msg }): Frame[] => {
      const { id, method, params = {} } = msg;
      if (dir !== "in" || method === undefined) return [];
      return [
        id === undefined ? { kind: "notification", method, params } : { kind: "request", id, method, params },
      ];
    }),
  );
  const bodies = frames.map((frame) => (frame.kind === "answer" ? {} : frame.params));
  /** A real frame with one value replaced anywhere. */
  const broken = fc
    .tuple(fc.nat(frames.length - 1), fc.nat(), fc.jsonValue())
    .map(([at, place, value]): Frame => {
      const frame = frames[at] as Exclude<Frame, { kind: "answer" }>;
      const copy = structuredClone(bodies[at] ?? {});
      spoil(copy, place, value);
      return { ...frame, params: copy };
    });

  test("nothing throws, every event is valid, and each tool has one result when the turn is over", () => {
    fc.assert(
      fc.property(fc.array(broken, { maxLength: 12 }), fc.jsonValue(), (some, answer) => {
        const state = running();
        const last: Frame = { kind: "answer", answer: { result: answer } };
        const reports = [
          ...[...some, last].flatMap((frame) => translate(state, frame)),
          ...abandonTurn(state, "gone"),
        ];
        const told = events(reports);
        for (const event of told) expect(AgentEvent.safeParse(event).error).toBeUndefined();
        for (const report of reports) {
          if (report.kind === "ask")
            expect(RequestPayload.safeParse(report.ask.payload).error).toBeUndefined();
        }
        const count = (type: string) => told.filter((event) => event.type === type).length;
        expect(count("agent.result")).toBe(1);
        expect(count("agent.tool_use")).toBe(count("agent.tool_result"));
      }),
      { numRuns: 300 },
    );
  });
});

function spoil(root: JsonObject, place: number, value: unknown): void {
  const spots: Array<[Record<string, unknown>, string]> = [];
  const walk = (at: unknown): void => {
    if (typeof at !== "object" || at === null) return;
    for (const key of Object.keys(at)) {
      spots.push([at as Record<string, unknown>, key]);
      walk((at as Record<string, unknown>)[key]);
    }
  };
  walk(root);
  const spot = spots[place % Math.max(1, spots.length)];
  if (spot !== undefined) spot[0][spot[1]] = value;
}
