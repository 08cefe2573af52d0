// A conversation with the real codex through the daemon.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ofType } from "../world.ts";
import { type CodexWorld, openWorld } from "./world.ts";

const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

let world: CodexWorld;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

test("turns follow each other in one thread, and the context grows", async () => {
  const talk = await world.session();
  const startedMs = performance.now();
  const first = await talk.say("remember the blue whale");
  console.log(`first turn: ${Math.round(performance.now() - startedMs)} ms`);
  const second = await talk.say("#mock:context");
  expect(first.text).toBe("You said: remember the blue whale");
  expect(first.result).toMatchObject({ subtype: "success", backend: "codex" });
  expect(first.result["usage"]).toMatchObject({ output_tokens: 20 });
  expect(second.text).toBe('1 earlier: ["remember the blue whale"]');
  for (const turn of [first, second]) expect(ofType(turn.frames, "agent.result")).toHaveLength(1);
  const info = await talk.client.request({ type: "blemeesd.session_info", session_id: talk.session_id });
  expect(info).toMatchObject({ turns: 2, cwd: world.cwd, subprocess_running: true });
});

test("codex's notices during its start reach the client that opened the session", async () => {
  const talk = await world.session();
  await talk.say("hello");
  const [first] = talk.client.frames.filter(
    (frame) => frame["session_id"] === talk.session_id && "seq" in frame,
  );
  expect(first).toMatchObject({ type: "agent.system_init", seq: 1, model: "gpt-5.5", cwd: world.cwd });
});

test("text and reasoning arrive word by word, then as a complete message", async () => {
  const talk = await world.session();
  const turn = await talk.say("#mock:think I see now");
  const said = (kind: string) =>
    ofType(turn.frames, "agent.delta")
      .flatMap((delta) => (delta["kind"] === kind ? [delta["text"]] : []))
      .join("");
  expect(said("thinking")).toBe("One. Two. Three.");
  expect(said("text")).toBe("I see now");
  expect(turn.text).toBe("I see now");
});

test("a command that needs no answer: its use, its result and the answer that follows", async () => {
  const talk = await world.session({ "approval-policy": "never" });
  const turn = await talk.say("#mock:exec echo from-the-shell");
  const [use] = ofType(turn.frames, "agent.tool_use");
  const [result] = ofType(turn.frames, "agent.tool_result");
  expect(JSON.stringify(use?.["input"])).toContain("echo from-the-shell");
  expect(result).toMatchObject({ tool_use_id: use?.["tool_use_id"], is_error: false });
  expect(JSON.stringify(result?.["output"])).toContain("from-the-shell");
  expect(turn.text).toContain("from-the-shell");
});

test("an image reaches the model", async () => {
  const talk = await world.session();
  const turn = await talk.say([
    { type: "image", source: { type: "base64", media_type: "image/png", data: PIXEL } },
    { type: "text", text: "#mock:image" },
  ]);
  expect(turn.text).toBe(`images: image/png ${"data:image/png;base64,".length + PIXEL.length}`);
});

test("sessions share one codex process, and each keeps its own thread", async () => {
  const [left, right] = [await world.session(), await world.session()];
  expect(left.opened["subprocess_pid"]).toBe(right.opened["subprocess_pid"]);
  await Promise.all([left.say("I am left"), right.say("I am right")]);
  const [leftSays, rightSays] = await Promise.all([left.say("#mock:context"), right.say("#mock:context")]);
  expect(leftSays.text).toBe('1 earlier: ["I am left"]');
  expect(rightSays.text).toBe('1 earlier: ["I am right"]');
});

test("a session may have its own process", async () => {
  const [shared, own] = [await world.session(), await world.session({ own_process: true })];
  expect(own.opened["subprocess_pid"]).not.toBe(shared.opened["subprocess_pid"]);
  expect((await own.say("#mock:text alone")).text).toBe("alone");
});

test("a message during a turn is refused as busy and never steers it", async () => {
  const talk = await world.session();
  talk.send("#mock:slow 20 30");
  await talk.until((frame) => frame.type === "agent.delta");
  talk.send("turn left!");
  expect(await talk.until((frame) => frame.type === "blemeesd.error")).toMatchObject({
    code: "session_busy",
  });
  await talk.until((frame) => frame.type === "agent.result");
  expect((await talk.say("#mock:context")).text).toBe('1 earlier: ["#mock:slow 20 30"]');
});

test("a thread is listed with its first text, also when its session is closed", async () => {
  const talk = await world.session();
  await talk.say("please find me in the list");
  const preview = "please find me in the list";
  const find = async (filter: object = {}) => {
    const reply = await talk.client.request({ type: "blemeesd.list_sessions", ...filter });
    const rows = reply["sessions"] as Record<string, unknown>[];
    return rows.filter((row) => row["preview"] === preview || row["session_id"] === talk.session_id);
  };
  expect(await find()).toMatchObject([{ session_id: talk.session_id, backend: "codex", attached: true }]);
  await talk.client.request({ type: "blemeesd.close", session_id: talk.session_id });
  expect(await find()).toMatchObject([{ backend: "codex", attached: false, cwd: world.cwd, preview }]);
  expect(await find({ cwd: "/somewhere/else" })).toEqual([]);
});

test("an approval policy that codex no longer has is refused with the valid names", async () => {
  const client = await world.connect();
  const options = { cwd: world.cwd, "approval-policy": "on-failure" };
  const error = await world.open(client, randomUUID(), options);
  expect(error).toMatchObject({ type: "blemeesd.error", code: "invalid_message" });
  for (const word of ["approval-policy", "on-failure", "untrusted", "on-request", "never"]) {
    expect(error["message"]).toContain(word);
  }
});
