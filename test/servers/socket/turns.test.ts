// A turn as clients see it.
import { describe, expect, test } from "vitest";
import {
  barrier,
  isOf,
  lastText,
  newId,
  openDemo,
  range,
  say,
  seen,
  seqsOf,
  streamOf,
  useDaemon,
} from "./talk.ts";

const daemon = useDaemon({ env: { BLEMEESD_STDERR_RATE_LINES: "20", BLEMEESD_STDERR_RATE_WINDOW: "0.3" } });

describe("a turn", () => {
  test("is system_init, task_started, content and one result, each with session_id, seq and backend", async () => {
    const client = await daemon.connect();
    const session_id = newId();
    await client.open(session_id, { include_partial_messages: true });
    const result = await client.turn(session_id, "#say one two");
    const frames = streamOf(client, session_id);
    const types = frames.map((frame) => frame.type);
    expect(types.slice(0, 2)).toEqual(["agent.system_init", "agent.notice"]);
    expect(frames[1]).toMatchObject({ category: "task_started", data: { turn_id: result["turn_id"] } });
    expect(types.slice(2)).toEqual(["agent.delta", "agent.delta", "agent.message", "agent.result"]);
    expect(seqsOf(client, session_id)).toEqual(range(1, frames.length));
    for (const frame of frames) expect(frame["backend"]).toBe("claude");
    expect(result).toMatchObject({
      subtype: "success",
      num_turns: 1,
      usage: { input_tokens: 10, output_tokens: 20, cache_read_input_tokens: 5 },
      turn_id: expect.stringMatching(/^[0-9a-f]{32}$/),
      time_to_first_token_ms: expect.any(Number),
    });
  });

  test("the next one starts with task_started at once, and has its own id", async () => {
    const client = await daemon.connect();
    const session_id = newId();
    await client.open(session_id);
    const first = await client.turn(session_id, "one");
    const second = await client.turn(session_id, "two");
    const later = streamOf(client, session_id).filter((frame) => Number(frame["seq"]) > Number(first["seq"]));
    expect(later.map((frame) => frame.type)).toEqual(["agent.notice", "agent.message", "agent.result"]);
    expect(second["turn_id"]).not.toBe(first["turn_id"]);
  });

  test("a second message meanwhile is session_busy, and the turn does not notice", async () => {
    const client = await daemon.connect();
    const session_id = newId();
    await client.open(session_id);
    say(client, session_id, "#slow 5 10");
    say(client, session_id, "too early");
    expect(await client.next("blemeesd.error")).toMatchObject({ code: "session_busy", session_id });
    expect(await client.next(isOf("agent.result", session_id))).toMatchObject({ subtype: "success" });
    expect((await client.turn(session_id, "now"))["subtype"]).toBe("success");
  });

  test("images pass through to the agent", async () => {
    const client = await daemon.connect();
    const session_id = newId();
    await client.open(session_id);
    const image = (media_type: string) => ({
      type: "image",
      source: { type: "base64", media_type, data: "aGk=" },
    });
    await client.turn(session_id, [
      { type: "text", text: "#image" },
      image("image/png"),
      image("image/webp"),
    ]);
    expect(lastText(client, session_id)).toBe("images: image/png,image/webp");
  });

  test("text of any alphabet is returned unchanged, not escaped", async () => {
    const client = await daemon.connect();
    const session_id = newId();
    await client.open(session_id);
    await client.turn(session_id, "#say grüße 🦀 שלום \u2028 end");
    expect(lastText(client, session_id)).toBe("grüße 🦀 שלום \u2028 end");
  });

  test("a user turn is echoed only when the session asks for it", async () => {
    const client = await daemon.connect();
    const [silent, echoing] = [newId(), newId()];
    await client.open(silent);
    await client.open(echoing, { user_echo: true });
    await client.turn(silent, "hello");
    await client.turn(echoing, "hello");
    const echoes = client.frames.filter((frame) => frame.type === "agent.user_echo");
    expect(echoes).toMatchObject([{ session_id: echoing, message: { role: "user", content: "hello" } }]);
  });

  test("raw is present only when the session asks for it, and not on our own frames", async () => {
    const client = await daemon.connect();
    const session_id = newId();
    await client.open(session_id, { include_raw_events: true });
    await client.turn(session_id, "hello");
    const [init, started, message, result] = streamOf(client, session_id);
    expect(init?.["raw"]).toMatchObject({ type: "system", subtype: "init" });
    expect(started).not.toHaveProperty("raw");
    expect(message?.["raw"]).toMatchObject({ type: "assistant" });
    expect(result?.["raw"]).toMatchObject({ type: "result" });
  });

  test("that the agent starts on its own is a turn like any other, and says so", async () => {
    const client = await daemon.connect();
    const session_id = newId();
    await client.open(session_id);
    await client.turn(session_id, "#bg 10");
    const own = await client.next(isOf("agent.result", session_id));
    const started = streamOf(client, session_id).filter((frame) => frame["category"] === "task_started");
    expect(started.map((frame) => (frame["data"] as { origin?: string }).origin)).toEqual([
      undefined,
      "agent",
    ]);
    expect(started[1]).toMatchObject({ data: { turn_id: own["turn_id"] } });
  });

  test("a line of a megabyte from the agent passes whole: there is no 64 KiB limit", async () => {
    const client = await daemon.connect();
    const session_id = newId();
    await client.open(session_id, { include_partial_messages: true });
    await client.turn(session_id, "#flood 1 1000000");
    const delta = client.frames.find(isOf("agent.delta", session_id));
    expect(String(delta?.["text"])).toHaveLength(1_000_000);
  });

  test("that cannot log in is auth_failed, again in every turn, until it works", async () => {
    const client = await daemon.connect();
    const session_id = newId();
    await client.open(session_id);
    for (const _ of [1, 2]) {
      expect(await client.turn(session_id, "#auth")).toMatchObject({
        subtype: "error",
        error: { code: "auth_failed" },
      });
    }
    expect((await client.turn(session_id, "#say logged in"))["subtype"]).toBe("success");
    const errors = client.frames.filter((frame) => frame.type === "blemeesd.error");
    const told = {
      session_id,
      code: "auth_failed",
      backend: "claude",
      message: "Run `claude auth` to re-authenticate.",
    };
    expect(errors).toMatchObject([told, told]);
  });

  test("several sessions of one connection do not mix", async () => {
    const client = await daemon.connect();
    const ids = [newId(), newId(), newId()];
    for (const id of ids)
      client.send({ type: "blemeesd.open", session_id: id, backend: "claude", options: {} });
    for (const id of ids) say(client, id, `#slow 3 5 #say I am ${id}`);
    for (const id of ids) await seen(client, isOf("agent.result", id));
    for (const id of ids) expect(lastText(client, id)).toBe(`I am ${id}`);
    for (const id of ids) expect(seqsOf(client, id)).toEqual(range(1, 5));
  });
});

describe("a message is refused", () => {
  test("with session_unknown when the session has no owner or another one", async () => {
    const [owner, other] = [await daemon.connect(), await daemon.connect()];
    const session_id = newId();
    await openDemo(owner, session_id);
    for (const id of [session_id, newId()]) {
      say(other, id, "mine now");
      expect(await other.next("blemeesd.error")).toMatchObject({ code: "session_unknown", session_id: id });
    }
    expect((await owner.turn(session_id, "hello"))["subtype"]).toBe("success");
    expect(streamOf(owner, session_id).filter((frame) => frame.type === "agent.result")).toHaveLength(1);
  });
});

describe("stderr of the agent", () => {
  test("comes as numbered frames of the session", async () => {
    const client = await daemon.connect();
    const session_id = newId();
    await client.open(session_id);
    await client.turn(session_id, "#stderr 3 #say done");
    await seen(client, (frame) => frame["line"] === "warning 2");
    const lines = streamOf(client, session_id).filter((frame) => frame.type === "blemeesd.stderr");
    expect(lines.map((frame) => frame["line"])).toEqual(["warning 0", "warning 1", "warning 2"]);
  });

  test("is limited to a number of lines per window, and dropped lines are reported with their count", async () => {
    const client = await daemon.connect();
    const session_id = newId();
    await client.open(session_id);
    await client.turn(session_id, "#stderr 100 #say flooded");
    await seen(client, (frame) => frame["line"] === "warning 19");
    const lines = () =>
      client.frames.filter((frame) => frame.type === "blemeesd.stderr").map((frame) => frame["line"]);
    // The window is 0.3 s: a turn that takes longer opens it again.
    await client.turn(session_id, "#slow 2 200 #stderr 1 #say later");
    await seen(client, (frame) => String(frame["line"]).includes("dropped"));
    await barrier(client);
    expect(lines()).toEqual([...range(0, 19).map((n) => `warning ${n}`), "[80 lines dropped]", "warning 0"]);
  });
});
