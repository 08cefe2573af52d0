// Approvals of old Codex: asked once, answered once, and never left open after a turn.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { toAsk } from "../../../src/backends/codex/mcp-server/asks.ts";
import { createState } from "../../../src/backends/codex/mcp-server/state.ts";
import type { Ask } from "../../../src/backends/types.ts";
import type { Answer, Decision } from "../../../src/protocol/requests.ts";
import { RequestPayload } from "../../../src/protocol/requests.ts";
import { type Started, user } from "../conformance.ts";
import { say, startFake } from "./mcp-fake.ts";

async function untilAsked({ run, sink }: Started, prompt: string): Promise<Ask> {
  await run.send(user(prompt));
  await sink.until(({ heard }) => heard.some((one) => one.kind === "ask"));
  return asksOf({ sink })[0] as Ask;
}

function asksOf({ sink }: Pick<Started, "sink">): Ask[] {
  return sink.heard.flatMap((heard) => (heard.kind === "ask" ? [heard.ask] : []));
}

const withdrawals = ({ sink }: Started) => sink.heard.filter((heard) => heard.kind === "withdrawn");

describe("what is asked", () => {
  test("a command, with everything the user needs to decide", async () => {
    const started = await startFake();
    const ask = await untilAsked(started, "#approve touch 'a b'");
    const { cwd } = started.order.options;
    expect(ask).toEqual({
      native_id: "0",
      request_type: "command",
      thread_id: expect.any(String),
      native_turn_id: expect.any(String),
      item_id: "call_1",
      payload: {
        title: `shell: sh -c 'touch '\\''a b'\\'''`,
        command: `sh -c 'touch '\\''a b'\\'''`,
        cwd,
        tool_name: "shell",
        choices: [
          { decision: "accept" },
          { decision: "acceptForSession", remembers: ["this exact command"] },
          { decision: "decline" },
          { decision: "cancel" },
        ],
        details: {
          message: "Allow Codex to do this?",
          command: ["sh", "-c", "touch 'a b'"],
          parsed_cmd: [{ type: "unknown", cmd: "touch 'a b'" }],
        },
      },
    });
    expect(RequestPayload.safeParse(ask.payload).error).toBeUndefined();
    expect(started.sink.events.at(-1)).toMatchObject({ category: "codex_unknown_exec_approval_request" });
  });

  test("a file change, with its diff, in the newer and in the older form", async () => {
    const { request_type, payload } = await untilAsked(await startFake(), "#patch /p/old.txt");
    expect(request_type).toBe("file_change");
    expect(payload).toMatchObject({
      title: "apply_patch: edit /p/old.txt, new file /p/new.txt",
      reason: "tidy up",
      tool_name: "apply_patch",
      changes: [
        { path: "/p/old.txt", kind: "update", diff: "@@ -1 +1 @@\n-a\n+b\n" },
        { path: "/p/new.txt", kind: "add", diff: "hello\n" },
      ],
    });
    expect(RequestPayload.safeParse(payload).error).toBeUndefined();
  });
});

describe("what cannot be shown", () => {
  test.each<[string, object]>([
    ["a missing command", { codex_elicitation: "exec-approval" }],
    ["an empty command", { codex_elicitation: "exec-approval", codex_command: [] }],
    ["changes of no files", { codex_elicitation: "patch-approval", codex_changes: {} }],
  ])("%s can only be refused", (_name, params) => {
    const state = { ...createState({}, undefined), requestId: 3 };
    const { payload } = toAsk(state, 0, "elicitation/create", { ...params }) as Ask;
    expect(payload.choices.map(({ decision }) => decision)).toEqual(["decline", "cancel"]);
    expect(RequestPayload.safeParse(payload).error).toBeUndefined();
  });
});

describe("what is answered", () => {
  test.each<[Decision, string, boolean]>([
    ["accept", "approved", true],
    ["acceptForSession", "approved_for_session", true],
    ["decline", "denied", false],
  ])("%s reaches codex as %s, and the turn continues", async (decision, word, isRun) => {
    const started = await startFake();
    const { run, sink } = started;
    const ask = await untilAsked(started, "#approve touch made");
    expect(await run.answer?.(ask.native_id, { decision })).toBe(true);
    await sink.untilResults(1);
    expect(sink.texts.at(-1)).toBe(`decision: ${word}`);
    expect(existsSync(join(String(started.order.options["cwd"]), "made"))).toBe(isRun);
    expect(sink.results).toMatchObject([{ subtype: "success" }]);
    expect(withdrawals(started)).toEqual([]);
  });

  test("cancel stops the turn", async () => {
    const started = await startFake();
    const ask = await untilAsked(started, "#patch /p/a");
    expect(await started.run.answer?.(ask.native_id, { decision: "cancel" })).toBe(true);
    await started.sink.untilResults(1);
    expect(started.sink.results).toMatchObject([{ subtype: "interrupted" }]);
    expect(withdrawals(started)).toEqual([]);
  });

  test("a second answer and an answer to no request are ignored", async () => {
    const started = await startFake();
    const { run, sink } = started;
    const ask = await untilAsked(started, "#approve true");
    const accept: Answer = { decision: "accept" };
    expect(await run.answer?.("7", accept)).toBe(false);
    expect(await run.answer?.(ask.native_id, { decision: "acceptAlways" })).toBe(false);
    expect(await run.answer?.(ask.native_id, { answers: {} })).toBe(false);
    expect(await run.answer?.(ask.native_id, accept)).toBe(true);
    expect(await run.answer?.(ask.native_id, accept)).toBe(false);
    await sink.untilResults(1);
  });

  test.each(["sampling/createMessage", "roots/list", "elicitation/create"])(
    "%s that is no approval gets an error, and is never shown",
    async (method) => {
      const started = await startFake();
      expect(JSON.parse(await say(started, `#request ${method}`))).toMatchObject({
        error: { code: -32601, message: expect.stringContaining(method) },
      });
      expect(asksOf(started)).toEqual([]);
    },
  );

  test("an approval for a finished call is refused by us", async () => {
    const started = await startFake();
    expect(JSON.parse(await say(started, "#ask-late"))).toEqual({ decision: "denied" });
    expect(asksOf(started)).toEqual([]);
  });
});

describe("what is withdrawn", () => {
  test("an interrupt withdraws at once; a late answer is ignored; codex waits for nothing", async () => {
    const started = await startFake();
    const { run, sink } = started;
    const ask = await untilAsked(started, "#approve touch made");
    const interrupted = run.interrupt();
    expect(withdrawals(started)).toEqual([
      { kind: "withdrawn", native_id: ask.native_id, reason: "the turn was interrupted" },
    ]);
    expect(await run.answer?.(ask.native_id, { decision: "accept" })).toBe(false);
    await interrupted;
    expect(sink.results).toMatchObject([{ subtype: "interrupted" }]);
    expect(await say(started, "#say next")).toBe("next");
    expect(existsSync(join(String(started.order.options["cwd"]), "made"))).toBe(false);
  });

  test("codex takes its question back", async () => {
    const started = await startFake();
    await say(started, "#ask-retract");
    expect(asksOf(started)).toHaveLength(1);
    expect(withdrawals(started)).toMatchObject([{ native_id: "0", reason: "codex withdrew it" }]);
    expect(
      started.sink.events.some((event) => event.type === "agent.notice" && /notif/.test(event.category)),
    ).toBe(false);
  });

  test("a turn that ends with a question open withdraws it before the result", async () => {
    const started = await startFake();
    await say(started, "#ask-open #say done");
    const kinds = started.sink.heard.slice(-2).map((heard) => heard.kind);
    expect(kinds).toEqual(["withdrawn", "event"]);
    expect(JSON.parse(await say(started, "#answers"))).toEqual([{ decision: "denied" }]);
  });

  test("the death of codex withdraws nothing: its end is reported", async () => {
    const started = await startFake();
    const ask = await untilAsked(started, "#approve true");
    process.kill(started.run.pid ?? 0, "SIGKILL");
    await started.sink.untilEnded();
    expect(withdrawals(started)).toEqual([]);
    expect(await started.run.answer?.(ask.native_id, { decision: "accept" })).toBe(false);
  });
});
