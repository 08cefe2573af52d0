// Turns of an ACP agent: its events, their order, and how a turn ends.
import { describe, expect, test } from "vitest";
import { startBackend, user } from "../conformance.ts";
import { fakeAgent, noticesOf, say } from "./fake.ts";

describe("the agent's output", () => {
  test("chunks become deltas, and a whole message when the id changes, a tool comes between or the turn ends", async () => {
    const session = await fakeAgent().start();
    await say(session, "#think hm #parts #tool ls #say done");
    const told = session.sink.events.flatMap((event) => {
      if (event.type === "agent.message")
        return [event.content[0]?.["text"] ?? event.content[0]?.["thinking"]];
      if (event.type === "agent.tool_use") return [[event.name, event.input]];
      return event.type === "agent.tool_result" ? [event.output] : [];
    });
    expect(told).toEqual(["hm", "one two", "three", ["bash", { command: "ls" }], "ran ls", "done"]);
    const deltas = session.sink.events.flatMap((event) => (event.type === "agent.delta" ? [event.text] : []));
    expect(deltas).toEqual(["hm", "one ", "two", "three", "done"]);
    expect(session.sink.events.at(-2)).toMatchObject({ type: "agent.message", phase: "final_answer" });
  });

  test("unknown updates and stray answers become notices", async () => {
    const session = await fakeAgent().start();
    await say(session, "#unknown");
    expect(noticesOf(session, "acp_update_brand_new_kind")).toMatchObject([{ data: { value: 1 } }]);
    expect(noticesOf(session, "acp_notif_vendor_hello")).toMatchObject([{ data: { value: 2 } }]);
    expect(noticesOf(session, "acp_notif_demian_event")).toMatchObject([
      { data: { event: { callId: "c" } } },
    ]);
    expect(noticesOf(session, "plan")).toMatchObject([
      { data: { plan: [{ step: "a", status: "pending" }] } },
    ]);
    expect(noticesOf(session, "context_usage")).toMatchObject([
      { data: { used_tokens: 5, context_window: 100 } },
    ]);
    expect(noticesOf(session, "agent_notice")).toMatchObject([{ level: "warn", text: "Careful: really" }]);
    expect(noticesOf(session, "mode")).toMatchObject([{ data: { mode: "auto" } }]);
    expect(noticesOf(session, "available_commands")).toHaveLength(1);
    expect(noticesOf(session, "acp_notif_auth_status_update")).toHaveLength(1);
    expect(session.sink.results).toMatchObject([{ subtype: "success", cost_usd: 0.25 }]);
  });

  test("with user_echo and include_raw_events, the sent message is echoed and each frame is on its events", async () => {
    const session = await fakeAgent().start({ user_echo: true, include_raw_events: true });
    await say(session, "#say hi");
    expect(session.sink.events).toContainEqual(
      expect.objectContaining({ type: "agent.user_echo", message: { role: "user", content: "#say hi" } }),
    );
    const delta = session.sink.events.find(({ type }) => type === "agent.delta");
    expect(delta?.raw).toMatchObject({ method: "session/update" });
  });

  test("images are sent in the agent's own format; unsupported content is refused with its position", async () => {
    const agent = fakeAgent();
    const session = await agent.start();
    const source = { type: "base64", media_type: "image/png", data: "AAAA" };
    await session.run.send({
      role: "user",
      content: [
        { type: "text", text: "#say ok" },
        { type: "image", source },
      ],
    });
    await session.sink.untilResults(1);
    const prompt = agent.heard().find(({ method }) => method === "session/prompt");
    expect(prompt?.params?.["prompt"]).toContainEqual({ type: "image", mimeType: "image/png", data: "AAAA" });
    await expect(session.run.send({ role: "user", content: [{ type: "audio" }] })).rejects.toMatchObject({
      code: "invalid_message",
      message: expect.stringContaining("/message/content/0"),
    });
    expect(await say(session, "#say again")).toBe("again");
  });
});

describe("how a turn ends", () => {
  test.each([
    ["#stop max_turn_requests", { subtype: "max_turns" }],
    ["#stop max_tokens", { subtype: "success" }],
    ["#stop cancelled", { subtype: "interrupted" }],
    [
      "#usage",
      { subtype: "success", usage: { input_tokens: 7, output_tokens: 3, cache_read_input_tokens: 2 } },
    ],
    [
      "#error -32603 boom",
      { subtype: "error", error: { code: "agent_error", native_code: -32603, message: "boom" } },
    ],
    ["#error 429 slow down", { subtype: "error", error: { code: "rate_limited" } }],
    ["#system-error it broke", { subtype: "error", error: { code: "agent_error", message: "it broke" } }],
  ])("%s", async (prompt, result) => {
    const session = await fakeAgent().start();
    await say(session, prompt);
    expect(session.sink.results).toMatchObject([result]);
    expect(await say(session, "#say usable")).toBe("usable");
  });

  test("an agent that is not logged in is reported as such, and the turn has its result", async () => {
    const session = await fakeAgent().start();
    await say(session, "#error -32000 Authentication required");
    expect(session.sink.heard.map(({ kind }) => kind)).toContain("authFailed");
    expect(session.sink.results).toMatchObject([{ subtype: "error", error: { code: "auth_failed" } }]);
  });

  test("a truncated answer is reported, with a normal end", async () => {
    const session = await fakeAgent().start();
    await say(session, "#say half #stop max_tokens");
    expect(noticesOf(session, "stop_reason")).toMatchObject([{ data: { stop_reason: "max_tokens" } }]);
  });

  test("a tool without an end is closed before the result", async () => {
    const session = await fakeAgent().start();
    await say(session, "#open-tool");
    const types = session.sink.events.map(({ type }) => type);
    expect(types.slice(-3)).toEqual(["agent.tool_use", "agent.tool_result", "agent.result"]);
    expect(session.sink.events.at(-2)).toMatchObject({ is_error: true });
  });

  test("a second answer to the same prompt is no second result", async () => {
    const session = await fakeAgent().start();
    await say(session, "#twice #say one");
    await say(session, "#say two");
    expect(session.sink.results).toHaveLength(2);
  });

  test("updates after the result are reported, but not as part of a turn", async () => {
    const session = await fakeAgent().start();
    await say(session, "#late #say on time");
    await session.sink.until(() => noticesOf(session, "context_usage").length > 0);
    expect(noticesOf(session, "late_text")).toMatchObject([{ text: "too late" }]);
    expect(session.sink.texts).toEqual(["on time"]);
  });

  test("a second message during a turn is refused: some agents would drop the first", async () => {
    const session = await fakeAgent().start();
    await session.run.send(user("#slow 1000 20"));
    await expect(session.run.send(user("#say x"))).rejects.toMatchObject({ code: "session_busy" });
    await session.run.interrupt();
  });
});

describe("silence", () => {
  test("is reported, with what to do", async () => {
    const session = await fakeAgent({}, { spec: { stallMs: 60 } }).start();
    await session.run.send(user("#say hi #wait"));
    await session.sink.until(() => noticesOf(session, "stalled").length > 0);
    expect(noticesOf(session, "stalled")[0]).toMatchObject({
      level: "warn",
      text: expect.stringContaining("interrupt the turn"),
    });
    await session.run.interrupt();
    expect(noticesOf(session, "stalled")).toHaveLength(1);
  });
});

describe("identity", () => {
  const env = { BLEMEES_SESSION_ID: "me", BLEMEES_SOCKET: "/run/x" };

  test("is in the environment of a separate process, and in _meta of a shared one", async () => {
    const own = await fakeAgent().start({}, { env });
    expect(await say(own, "#env")).toBe('{"own":"me","meta":"none"}');
    const shared = await fakeAgent({}, { spec: { process: "shared" } }).start({}, { env });
    expect(await say(shared, "#env")).toBe('{"own":"none","meta":"me"}');
  });

  test("sessions share a process if they can, each with its own conversation and requests", async () => {
    const agent = fakeAgent({}, { spec: { process: "shared" } });
    const all = await Promise.all(Array.from({ length: 5 }, () => agent.start()));
    await Promise.all(
      all.map(async ({ run, sink }, index) => {
        await run.send(user(`#slow 3 5 #ask cmd${index} #say mine${index}`));
        const ask = await sink.untilAsk(1);
        expect(ask.payload.command).toBe(`cmd${index}`);
        await run.answer?.(ask.native_id, { decision: index % 2 === 0 ? "accept" : "decline" });
        await sink.untilResults(1);
        expect(sink.texts.at(-1)).toContain(`mine${index}`);
      }),
    );
    expect(new Set(agent.pids()).size).toBe(1);
  });
});

test("before its first start an agent is only present; afterwards its version is known; without a program it is missing", async () => {
  const agent = fakeAgent();
  expect(await agent.backend.detect()).toBe("present");
  await agent.start();
  expect(await agent.backend.detect()).toBe("1.2.3");
  const missing = fakeAgent({}, { spec: { command: "no-such-agent" } });
  expect(await missing.backend.detect()).toBeUndefined();
  await expect(startBackend({ backend: missing.backend, options: {} })).rejects.toMatchObject({
    code: "spawn_failed",
    message: expect.stringMatching(/no-such-agent not found on PATH; .*agents\.fake/),
  });
});
