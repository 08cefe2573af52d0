// The driver for a session in this process, observed through the view.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Conversation } from "../../../../src/cli/demian/conversation.ts";
import { SessionStore } from "../../../../src/runtime/conversations/store.ts";
import { gate } from "../../../support/gate.ts";
import {
  bash,
  chatReply,
  type ModelServer,
  startModelServer,
  status,
  stuck,
} from "../../../support/model-server.ts";
import { messagesOf } from "../every-terminal.ts";
import { delegate, teamOf, write } from "../several-agents.ts";
import { usePlace } from "./stage.ts";
import { entries } from "./watcher.ts";

const place = usePlace();
const { world, open } = place;

describe("a turn", () => {
  test("is the message, the text as it arrives, the answer once, and its usage", async () => {
    const more = gate();
    place.model.script(stuck("Hello", more.passed, chatReply(" there.")));
    const at = await open();
    await at.driver.send("hi");
    const first = await at.until((view) => entries(view, "text").find(({ isOpen }) => isOpen));
    expect(first.text).toBe("Hello");
    expect(await at.session("working")).toMatchObject({ backend: "demian" });
    more.open();
    const result = await at.turns(1);
    expect(result).toMatchObject({ subtype: "success", usage: { input_tokens: 10, output_tokens: 5 } });
    expect(at.view.entries.map(({ kind }) => kind)).toEqual(["notice", "user", "text", "result"]);
    expect(entries(at.view, "text")).toMatchObject([{ text: "Hello there.", isOpen: false }]);
    expect(await at.session("idle")).toMatchObject({ turns: 1, usage: { input_tokens: 10 } });
  });

  test("shows a tool's change of a file", async () => {
    place.model.script(write("a.txt", "one\n"), chatReply("done"));
    const at = await open({ order: { yes: true } });
    await at.driver.send("write it");
    await at.turns(1);
    const [tool] = entries(at.view, "tool");
    expect(tool).toMatchObject({ name: "write_file", status: "done", title: "a.txt" });
    expect(tool?.changes).toEqual([{ path: "a.txt", kind: "add", diff: "@@ -0,0 +1,1 @@\n+one" }]);
  });

  test("that fails shows the reason, and the next message is accepted", async () => {
    place.model.script(status(401, { error: { message: "bad key" } }), chatReply("ok"));
    const at = await open();
    await at.driver.send("hi");
    expect(await at.turns(1)).toMatchObject({
      subtype: "error",
      error: expect.stringMatching(/bad key|401/),
    });
    await at.driver.send("again");
    expect(await at.turns(2)).toMatchObject({ subtype: "success" });
  });

  test("calls with the same id are separate calls", async () => {
    place.model.script(bash("true"), bash("false"), chatReply("done"));
    const at = await open({ order: { yes: true } });
    await at.driver.send("run them");
    await at.turns(1);
    expect(entries(at.view, "tool").map(({ title, status: how }) => [title, how])).toEqual([
      ["true", "done"],
      ["false", "failed"],
    ]);
  });

  test("begins with the images of the command line, and only the first does", async () => {
    place.model.script(chatReply("a cat"), chatReply("bye"));
    const part = { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } } as const;
    const at = await open({ parts: [part] });
    await at.driver.send("what is this?");
    await at.turns(1);
    await at.driver.send("thanks");
    await at.turns(2);
    expect(entries(at.view, "user").map(({ attachments }) => attachments)).toEqual([1, undefined]);
  });
});

describe("a request", () => {
  test("shows the whole command and the choices, and y runs it", async () => {
    place.model.script(bash("touch made.txt"), chatReply("done"));
    const at = await open();
    await at.driver.send("make it");
    const row = await at.request();
    expect(row).toMatchObject({
      request_type: "command",
      payload: { command: "touch made.txt", cwd: world.workspace },
    });
    expect(row.payload.choices.map(({ decision }) => decision)).toEqual(["accept", "decline", "cancel"]);
    await at.session("waiting_permission");
    expect(entries(at.view, "tool")).toMatchObject([{ status: "waiting" }]);
    await at.driver.respond(row, { decision: "accept" });
    await at.turns(1);
    expect(world.has("made.txt")).toBe(true);
    expect(entries(at.view, "request")).toMatchObject([
      { request: { status: "resolved", resolution_source: "tui" } },
    ]);
  });

  test("declined with a reason, the model gets it, and nothing runs", async () => {
    place.model.script(bash("touch made.txt"), chatReply("as you like"));
    const at = await open();
    await at.driver.send("make it");
    await at.driver.respond(await at.request(), { decision: "decline", message: "use mkdir" });
    await at.turns(1);
    expect(world.has("made.txt")).toBe(false);
    expect(JSON.stringify(messagesOf(place.model, 1).at(-1))).toContain("use mkdir");
    const told = entries(at.view, "notice").filter(({ category }) => category !== "local");
    expect(told).toEqual([]);
  });

  test("always is offered with what it allows, and the same is not asked again", async () => {
    place.model.script(write("a.txt", "a\n"), write("b.txt", "b\n"), chatReply("done"));
    const at = await open();
    await at.driver.send("write both");
    const row = await at.request();
    expect(row.payload.choices.map(({ decision }) => decision)).toEqual([
      "accept",
      "acceptAlways",
      "decline",
      "cancel",
    ]);
    expect(row.payload.choices[1]?.remembers?.[0]).toMatch(/write_file/);
    await at.driver.respond(row, { decision: "acceptAlways" });
    await at.turns(1);
    expect(entries(at.view, "request")).toHaveLength(1);
    expect([world.has("a.txt"), world.has("b.txt")]).toEqual([true, true]);
  });

  test("a message sent while a request is pending waits for the end of the turn", async () => {
    place.model.script(bash("true"), chatReply("first"), chatReply("second"));
    const at = await open();
    await at.driver.send("run it");
    const row = await at.request();
    await at.driver.send("and then");
    await at.until(({ queue }) => queue[0]);
    await at.driver.respond(row, { decision: "accept" });
    await at.turns(2);
    expect(entries(at.view, "user").map(({ text }) => text)).toEqual(["run it", "and then"]);
    expect(
      entries(at.view, "text")
        .map(({ text }) => text)
        .slice(-2),
    ).toEqual(["first", "second"]);
  });

  test("cancel ends the turn", async () => {
    place.model.script(bash("touch made.txt"));
    const at = await open();
    await at.driver.send("make it");
    await at.driver.respond(await at.request(), { decision: "cancel" });
    expect((await at.turns(1)).subtype).not.toBe("success");
    expect(world.has("made.txt")).toBe(false);
  });

  test("an answer to another request is ignored", async () => {
    place.model.script(bash("touch made.txt"), chatReply("done"));
    const at = await open();
    await at.driver.send("make it");
    const row = await at.request();
    const other = { ...row, shown_hash: "0".repeat(64) };
    await expect(at.driver.respond(other, { decision: "accept" })).rejects.toMatchObject({
      code: "request_changed",
    });
    await expect(at.driver.respond(row, { decision: "acceptForSession" })).rejects.toMatchObject({
      code: "invalid_answer",
    });
    expect(world.has("made.txt")).toBe(false);
    await at.driver.interrupt();
    await at.turns(1);
    await expect(at.driver.respond(row, { decision: "accept" })).rejects.toMatchObject({
      code: "request_withdrawn",
    });
    expect(entries(at.view, "request")).toMatchObject([{ request: { status: "withdrawn" } }]);
    expect(world.has("made.txt")).toBe(false);
  });
});

describe("while a task runs", () => {
  test("messages wait in order, one can be taken back, and each is answered", async () => {
    const more = gate();
    place.model.script(stuck("one", more.passed), chatReply("three"));
    const at = await open();
    await at.driver.send("first");
    await at.until((view) => entries(view, "text")[0]);
    await at.driver.send("second");
    await at.driver.send("third");
    const [second] = await at.until(({ queue }) => (queue.length === 2 ? queue : undefined));
    await at.until(({ session }) => (session?.queued === 2 ? true : undefined));
    await at.driver.cancelQueued(second?.message_id ?? "");
    more.open();
    await at.turns(2);
    expect(entries(at.view, "user").map(({ text }) => text)).toEqual(["first", "third"]);
    expect(at.view.queue).toEqual([]);
  });

  test("an urgent one ends the task and goes before the queued ones", async () => {
    place.model.script(stuck("one"), chatReply("now"), chatReply("later"));
    const at = await open();
    await at.driver.send("first");
    await at.until((view) => entries(view, "text")[0]);
    await at.driver.send("later");
    await at.driver.send("now", "now");
    await at.turns(3);
    expect(entries(at.view, "user").map(({ text }) => text)).toEqual(["first", "now", "later"]);
    expect(entries(at.view, "result").map(({ subtype }) => subtype)).toEqual([
      "interrupted",
      "success",
      "success",
    ]);
  });

  test("/stop stops it and clears the queue", async () => {
    place.model.script(stuck("one"));
    const at = await open();
    await at.driver.send("first");
    await at.until((view) => entries(view, "text")[0]);
    await at.driver.send("second");
    await at.command("/stop");
    expect(await at.turns(1)).toMatchObject({ subtype: "interrupted" });
    await at.notice(/a queued message was not sent/);
    expect(place.model.requests).toHaveLength(1);
  });

  test("neither settings nor the conversation can be changed", async () => {
    place.model.script(stuck("one"));
    const at = await open();
    await at.driver.send("first");
    await at.until((view) => entries(view, "text")[0]);
    const busy = { code: "session_busy" };
    await expect(at.command("/compact")).rejects.toMatchObject(busy);
    await expect(at.command("/provider", "other")).rejects.toMatchObject(busy);
    await expect(at.command("/model", "huge")).rejects.toMatchObject(busy);
    await expect(at.command("/agent", "plan")).rejects.toMatchObject(busy);
    // Their keys are letters: "please also …" waits for the task like any other message.
    expect(at.driver.pickers).toEqual([]);
    expect(at.driver.commands.filter(({ isAlways }) => isAlways).map(({ name }) => name)).toEqual([
      "/stop",
      "/jobs",
    ]);
  });

  test("leaving ends it, and closes the session", async () => {
    place.model.script(stuck("one"));
    const at = await open();
    await at.driver.send("first");
    await at.until((view) => entries(view, "text")[0]);
    await at.driver.close();
    expect(at.view.session?.turn).toBeUndefined();
    await expect(at.driver.send("more")).rejects.toMatchObject({ code: "session_closed" });
    expect(
      existsSync(join(world.workspace, ".demian/transcripts", at.driver.session_id, "session.jsonl")),
    ).toBe(true);
  });
});

describe("commands", () => {
  test("/compact reports its result, and calls no model", async () => {
    const replies = Array.from({ length: 9 }, (_, n) => chatReply(`answer ${n} `.repeat(50)));
    place.model.script(...replies);
    const at = await open();
    await at.command("/compact");
    await at.notice(/nothing to compact yet/);
    for (const [n] of replies.entries()) {
      await at.driver.send(`question ${n} `.repeat(50));
      await at.turns(n + 1);
    }
    await at.command("/compact");
    const { text, category } = await at.notice(/compacted the conversation/);
    expect(category).toBe("local");
    expect(text).toMatch(/about \d+ before, \d+ after\n.*\d+ kept, \d+ summarized\n.*about \d+ tokens/);
    expect(place.model.requests).toHaveLength(9);
  });

  test("an unknown one gets a suggestion and is not sent", async () => {
    const at = await open();
    await expect(at.driver.send("/compct")).rejects.toThrow(/did you mean \/compact\?/);
    await expect(at.command("/compact", "now")).rejects.toThrow(/takes no arguments/);
    await expect(at.command("/use-plan")).rejects.toMatchObject({ code: "no_plan" });
    expect(place.model.requests).toHaveLength(0);
  });

  test("warnings at start are shown", async () => {
    const at = await open({ warnings: ["something was ignored"] });
    expect(await at.notice(/something was ignored/)).toMatchObject({ level: "warn" });
  });
});

describe("several agents", () => {
  let other: ModelServer;
  beforeEach(async () => {
    other = await startModelServer();
    world.begin(place.model.url, teamOf(other));
  });
  afterEach(() => other.close());

  test("a sub-agent's events are nested in the call that started it, and its requests name it", async () => {
    place.model.script(delegate("write b.txt"), chatReply("All done."));
    other.script(write("b.txt", "b\n"), chatReply("I wrote it."));
    const at = await open();
    await at.notice(/multi-agent: build may delegate to/);
    await at.driver.send("delegate it");
    const start = await at.request();
    expect(start.payload.title).toBe("start the agent writer with the provider elsewhere");
    expect(start.payload.reason).toMatch(/is sent to another provider: elsewhere[\s\S]*write b\.txt/);
    await at.driver.respond(start, { decision: "accept" });
    const child = await at.until(({ requests }) => requests.find(({ path }) => path?.[0] === "writer"));
    expect(child).toMatchObject({ request_type: "file_change", path: ["writer"] });
    await at.driver.respond(child, { decision: "accept" });
    await at.turns(1);
    const [call, written] = entries(at.view, "tool");
    expect(call).toMatchObject({ name: "delegate_agent", agent: "writer", depth: 0, status: "done" });
    expect(written).toMatchObject({
      name: "write_file",
      parent: call?.tool_use_id,
      depth: 1,
      status: "done",
    });
    const texts = entries(at.view, "text").map(({ text, depth }) => [depth, text]);
    expect(texts).toEqual([
      [0, "Let me ask."],
      [1, "I wrote it."],
      [0, "All done."],
    ]);
    const told = entries(at.view, "notice").flatMap(({ category }) =>
      category.startsWith("subagent") ? [category] : [],
    );
    expect(told).toEqual(["subagent_started", "subagent_finished"]);
    await at.command("/agents");
    await at.notice(/writer +Writes small files/);
  });
});

describe("a conversation that continues", () => {
  test("shows its messages, the call that was not finished, and sends them with the next message", async () => {
    const store = new SessionStore(world.env);
    const id = store.newId();
    const now = new Date().toISOString();
    const stored = { cwd: world.workspace, agent: "build", provider: "local", model: "small" };
    const meta = { ...stored, title: "one", createdAt: now, updatedAt: now };
    const record = await store.create(id, meta, () => undefined);
    record.append({ role: "user", content: "one" });
    record.append({ role: "assistant", content: "first" });
    record.append({ role: "user", content: "two" });
    const toolCalls = [{ id: "call_0", name: "bash", input: { command: "make" } }];
    record.append({ role: "assistant", content: "", toolCalls });
    record.close();
    const conversation = Conversation.resume(world.env, { id, ...meta });
    place.model.script(bash("true"), chatReply("third"));
    const at = await open({ conversation, order: { yes: true } });
    await at.notice(/continuing one: 5 messages, last used \ds ago/);
    expect(at.view.entries.map(({ kind }) => kind).slice(0, 6)).toEqual([
      "user",
      "text",
      "result",
      "user",
      "tool",
      "result",
    ]);
    expect(entries(at.view, "tool")).toMatchObject([{ name: "bash", title: "make", status: "failed" }]);
    expect(entries(at.view, "result").map(({ subtype }) => subtype)).toEqual(["success", "interrupted"]);
    await at.driver.send("three");
    await at.turns(3);
    // The model gave its new call the id of the old one.
    expect(entries(at.view, "tool").map(({ status }) => status)).toEqual(["failed", "done"]);
    expect(messagesOf(place.model, 1).filter(({ role }) => role !== "system")).toHaveLength(8);
    await at.command("/name", "mine");
    await conversation.close();
    expect(await store.list()).toMatchObject([{ id, name: "mine", title: "one", turns: 1 }]);
  });
});
