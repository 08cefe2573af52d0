// An ACP agent's requests, how the user sees them, and the answers the agent gets.
import { describe, expect, test } from "vitest";
import { user } from "../conformance.ts";
import { fakeAgent, noticesOf, type Setup, say } from "./fake.ts";

async function ask(prompt: string, setup: Setup = {}, options: Record<string, unknown> = {}) {
  const agent = fakeAgent(setup);
  const session = await agent.start(options);
  await session.run.send(user(prompt));
  const asked = await session.sink.untilAsk(1);
  return { ...session, agent, ask: asked };
}

const decisionsOf = (payload: { choices: Array<{ decision: string }> }) =>
  payload.choices.map(({ decision }) => decision);

describe("a permission", () => {
  test("to run a command shows the command and its directory; ids start at 0", async () => {
    const { ask: asked, agent } = await ask("#ask make test");
    expect(asked).toMatchObject({
      native_id: "0",
      request_type: "command",
      payload: { command: "make test", cwd: agent.home.cwd, input: { command: "make test" } },
    });
    expect(decisionsOf(asked.payload)).toEqual(["accept", "acceptForSession", "decline", "cancel"]);
  });

  test("to change files shows the diff", async () => {
    const { ask: asked } = await ask("#ask-edit /tmp/x.txt");
    expect(asked.request_type).toBe("file_change");
    expect(asked.payload.changes).toEqual([
      { path: "/tmp/x.txt", kind: "update", diff: "@@ -1,2 +1,2 @@\n a\n-b\n+c" },
    ]);
  });

  test("that shows nothing can only be refused, and a title alone is no rule", async () => {
    const nothing = await ask("#ask-nothing");
    expect(decisionsOf(nothing.ask.payload)).toEqual(["decline", "cancel"]);
    const title = await ask("#ask-title rm x");
    expect(decisionsOf(title.ask.payload)).toEqual(["accept", "decline", "cancel"]);
  });

  test.each([
    ["accept", "yes"],
    ["decline", "no"],
  ] as const)("%s is answered with the option %s", async (decision, option) => {
    const { run, sink, ask: asked } = await ask("#ask make", { ids: "string" });
    expect(asked.native_id).toBe('"uuid-0"');
    expect(await run.answer?.(asked.native_id, { decision })).toBe(true);
    await sink.untilResults(1);
    expect(sink.texts.at(-1)).toContain(`answer: ${option}.`);
  });

  test("for the session is our own rule: the same command is allowed again without asking; another one is asked", async () => {
    const { run, sink, ask: asked, agent, ...session } = await ask("#ask make");
    await run.answer?.(asked.native_id, { decision: "acceptForSession" });
    await sink.untilResults(1);
    await say({ run, sink, ...session }, "#ask make");
    expect(sink.asks).toHaveLength(1);
    expect(noticesOf({ run, sink, ...session }, "permission_granted")).toHaveLength(1);
    await run.send(user("#ask make clean"));
    await sink.untilAsk(2);
    // Options that agents write to disk are never chosen.
    const options = agent.heard().flatMap(({ result }) => {
      const { outcome } = (result ?? {}) as { outcome?: { optionId?: string } };
      return outcome?.optionId ?? [];
    });
    expect(options).toEqual(["yes", "yes"]);
  });

  test("for the session covers the command however much of it the agent sent before it asked", async () => {
    const { run, sink, ask: asked, ...session } = await ask("#ask-opencode early make");
    await run.answer?.(asked.native_id, { decision: "acceptForSession" });
    await sink.untilResults(1);
    await say({ run, sink, ...session }, "#ask-opencode late make");
    expect(noticesOf({ run, sink, ...session }, "permission_granted")).toHaveLength(1);
    await run.send(user("#ask-opencode late make clean"));
    await sink.untilAsk(2);
    expect(sink.asks).toHaveLength(2);
  });

  test("that can only be given permanently says so, and a plain yes does not grant it", async () => {
    const { run, sink, ask: asked } = await ask("#ask make", { without: ["allow_once"] });
    expect(asked.payload.choices).toMatchObject([
      { decision: "acceptAlways", remembers: [expect.stringContaining("may write to disk")] },
      { decision: "decline" },
      { decision: "cancel" },
    ]);
    await run.answer?.(asked.native_id, { decision: "accept" });
    await sink.untilResults(1);
    expect(sink.texts.at(-1)).toContain("answer: cancelled");
  });

  test("is refused with the outcome cancelled if no option refuses", async () => {
    const { run, sink, ask: asked } = await ask("#ask make", { without: ["reject_once"] });
    await run.answer?.(asked.native_id, { decision: "decline" });
    await sink.untilResults(1);
    expect(sink.texts.at(-1)).toContain("answer: cancelled");
  });

  test("that is cancelled is refused and ends the turn", async () => {
    const { run, sink, ask: asked, agent } = await ask("#ask make #slow 1000 20");
    await run.answer?.(asked.native_id, { decision: "cancel" });
    await sink.untilResults(1);
    expect(sink.results).toMatchObject([{ subtype: "interrupted" }]);
    expect(agent.heard().map(({ method }) => method)).toContain("session/cancel");
  });

  test("that was declined may end the turn as cancelled: the reason is reported", async () => {
    const { run, sink, ask: asked, ...session } = await ask("#ask make", { declineEnds: true });
    await run.answer?.(asked.native_id, { decision: "decline" });
    await sink.untilResults(1);
    expect(sink.results).toMatchObject([{ subtype: "interrupted" }]);
    expect(noticesOf({ run, sink, ...session }, "stop_reason")).toMatchObject([
      { text: expect.stringContaining("declined") },
    ]);
  });

  test("that the agent takes back is withdrawn", async () => {
    const { run, sink, ask: asked } = await ask("#ask-revoked #slow 50 5");
    await sink.until(({ withdrawals }) => withdrawals.length > 0);
    expect(sink.withdrawals).toEqual([asked.native_id]);
    expect(await run.answer?.(asked.native_id, { decision: "accept" })).toBe(false);
  });

  test("is granted once without asking if approvals are off, but never permanently", async () => {
    const free = await fakeAgent().start({ approvals: false });
    expect(await say(free, "#ask make")).toContain("answer: yes.");
    const always = await fakeAgent({ without: ["allow_once"] }).start({ approvals: false });
    expect(await say(always, "#ask make")).toContain("answer: cancelled");
    expect([...free.sink.asks, ...always.sink.asks]).toEqual([]);
  });
});

describe("other requests", () => {
  test("a form becomes questions, and the answers have the types of its fields", async () => {
    const { run, sink, ask: asked } = await ask("#form");
    expect(asked.request_type).toBe("user_input");
    expect(asked.payload.questions?.map(({ id }) => id)).toEqual(["color", "count", "sure"]);
    await run.answer?.(asked.native_id, { answers: { color: "Blue", count: "3", sure: "true" } });
    await sink.untilResults(1);
    expect(sink.texts.at(-1)).toBe('{"action":"accept","content":{"color":"b","count":3,"sure":true}}');
  });

  test("a form without an answer is declined", async () => {
    const { run, sink, ask: asked } = await ask("#form");
    await run.answer?.(asked.native_id, { decision: "decline" });
    await sink.untilResults(1);
    expect(sink.texts.at(-1)).toBe('{"action":"decline"}');
  });

  test("files are not read for the agent", async () => {
    const session = await fakeAgent().start();
    expect(await say(session, "#fs")).toBe("code -32601");
    expect(noticesOf(session, "request_unsupported")).toMatchObject([
      { data: { method: "fs/read_text_file" } },
    ]);
  });
});
