import { existsSync, readFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Message } from "../../src/runtime/messages.ts";
import { createRuntime } from "../../src/runtime/runtime.ts";
import {
  chatReply,
  type ModelServer,
  type Reply,
  startModelServer,
  status,
} from "../support/model-server.ts";
import { Place } from "./place.ts";

let place: Place;
let model: ModelServer;

beforeEach(async () => {
  place = new Place();
  model = await startModelServer();
  const local = { type: "openai-compatible", model: "the-model", baseURL: `${model.url}/v1`, maxRetries: 0 };
  place.configure({
    defaultProvider: "local",
    providers: { local, other: { ...local, model: "another" } },
    sandbox: { allowEnvOnly: true },
  });
});

afterEach(async () => {
  await place.close();
  await model.close();
});

/** Says one word, then nothing until the client goes away. */
const hanging: Reply = async ({ head, write, gone }) => {
  head();
  await write('data: {"choices":[{"index":0,"delta":{"content":"Half"}}]}\n\n');
  await gone;
};

describe("a session", () => {
  test("runs one turn at a time, and is free after it", async () => {
    model.script(hanging, chatReply("Second."));
    const { session, events } = await place.open();
    const first = session.run({ text: "one" });
    await expect(session.run({ text: "two" })).rejects.toMatchObject({ code: "session_busy" });
    expect(() => session.compact()).toThrow(expect.objectContaining({ code: "session_busy" }));
    await until(() => events.some(({ type }) => type === "model.text.delta"));
    await session.abort();
    expect(await first).toMatchObject({ outcome: "aborted", text: "Half" });
    expect(await session.run({ text: "three" })).toMatchObject({ outcome: "completed", text: "Second." });
  });

  test("keeps half an answer, without the secrets that were in it", async () => {
    const key = `sk-${"a1".repeat(20)}`;
    model.script(async ({ head, write, gone }) => {
      head();
      await write(`data: {"choices":[{"index":0,"delta":{"content":"It is ${key} "}}]}\n\n`);
      await gone;
    });
    const { session, events } = await place.open();
    const running = session.run({ text: "go" });
    await until(() => events.some(({ type }) => type === "model.text.delta"));
    await session.abort();
    expect(await running).toMatchObject({ outcome: "aborted", text: "It is [API key masked] " });
    expect(JSON.stringify(session.history)).not.toContain(key);
  });

  test("is aborted by the caller's signal too, also one that aborted before", async () => {
    const { session } = await place.open();
    const report = await session.run({ text: "go", signal: AbortSignal.abort() });
    expect(report).toMatchObject({ outcome: "aborted", turns: 0 });
    expect(model.requests).toEqual([]);
  });

  test("can be aborted by a listener on its first event", async () => {
    const { session } = await place.open({
      onEvent: ({ type }) => {
        if (type === "user.message") void session.abort();
      },
    });
    expect(await session.run({ text: "go" })).toMatchObject({ outcome: "aborted", turns: 0 });
    expect(model.requests).toEqual([]);
  });

  test("aborts at once while the provider is being retried", async () => {
    model.script(status(429, { error: { message: "slow down" } }, { "retry-after": "30" }));
    const { session, events } = await place.open({}, { providers: { local: { maxRetries: 3 } } });
    const running = session.run({ text: "go" });
    await until(() => events.some(({ type }) => type === "provider.retry"));
    await session.abort();
    expect(await running).toMatchObject({ outcome: "aborted" });
  });

  test("ends its running turn when it is closed, and then takes no more", async () => {
    model.script(hanging);
    const { session, events } = await place.open();
    const running = session.run({ text: "go" });
    await until(() => events.some(({ type }) => type === "model.text.delta"));
    await Promise.all([session.close(), session.close()]);
    expect(await running).toMatchObject({ outcome: "aborted" });
    expect(events.at(-1)).toMatchObject({ type: "session.ended" });
    await expect(session.run({ text: "more" })).rejects.toMatchObject({ code: "session_closed" });
  });

  test("changes agent, provider and model between turns; a bad change changes nothing", async () => {
    model.script(chatReply("a"), chatReply("b"));
    const { session } = await place.open();
    await session.run({ text: "one" });
    await session.use({ agent: "plan", provider: "other" });
    expect(session).toMatchObject({ agent: "plan", provider: "other", model: "another" });
    await session.run({ text: "two" });
    expect(model.requests.map(({ body }) => (body as { model: string }).model)).toEqual([
      "the-model",
      "another",
    ]);
    await expect(session.use({ provider: "othr" })).rejects.toMatchObject({ code: "unknown_provider" });
    await expect(session.use({ agent: "nobody" })).rejects.toMatchObject({ code: "unknown_agent" });
    expect(session).toMatchObject({ agent: "plan", provider: "other" });
  });

  test("without a transcript still emits every event", async () => {
    model.script(chatReply("Hello."));
    const { session, events } = await place.open({ transcript: false });
    await session.run({ text: "hi" });
    expect(events).toContainEqual(expect.objectContaining({ type: "model.text", text: "Hello." }));
    expect(existsSync(`${place.cwd}/.demian`)).toBe(false);
  });

  test("emits each message as it is added to the history", async () => {
    model.script(chatReply("", [{ name: "glob", input: { pattern: "*" } }]), chatReply("Nothing there."));
    const told: string[] = [];
    const { session } = await place.open({ onMessage: ({ role }) => void told.push(role) });
    await session.run({ text: "look" });
    expect(told).toEqual(["user", "assistant", "tool", "assistant"]);
  });

  test("compacts when it is asked to, and says what that did", async () => {
    const history = Array.from({ length: 20 }, (_, index) => [
      { role: "user" as const, content: `question ${index} ${"word ".repeat(200)}` },
      { role: "assistant" as const, content: `answer ${index} ${"word ".repeat(200)}` },
    ]).flat();
    const rewritten: number[] = [];
    const { session, events } = await place.open({
      history,
      onHistory: (messages) => void rewritten.push(messages.length),
    });
    const report = session.compact();
    expect(report?.afterTokens).toBeLessThan(report?.beforeTokens ?? 0);
    expect(rewritten).toEqual([session.history.length]);
    expect(session.history.length).toBeLessThan(history.length);
    expect(events.at(-1)).toMatchObject({ type: "context.compacted", manual: true });
  });

  test("folds old turns into a summary when the context would be too long", async () => {
    model.script(chatReply("Here."));
    const history = Array.from({ length: 30 }, (_, index) => [
      { role: "user" as const, content: `question ${index} ${"word ".repeat(300)}` },
      { role: "assistant" as const, content: `answer ${index} ${"word ".repeat(300)}` },
    ]).flat();
    const flags = { context: { main: { maxContextTokens: 6000 } } };
    const { session, events } = await place.open({ history }, flags);
    await session.run({ text: "and now?" });
    expect(events).toContainEqual(expect.objectContaining({ type: "context.compacted", manual: false }));
    const { messages } = (await model.request(0)).body as { messages: { content: string }[] };
    expect(messages.length).toBeLessThan(history.length);
    expect(messages.at(-1)?.content).toBe("and now?");
    expect(session.history).toHaveLength(history.length + 2);
  });

  test("folds them for good when the conversation takes too much memory", async () => {
    model.script(chatReply("Here."));
    const long = "x".repeat(10 * 1024 * 1024);
    const history = Array.from({ length: 4 }, (_, index) => [
      { role: "user" as const, content: `question ${index}` },
      { role: "assistant" as const, content: `${index}`.repeat(10) + long },
    ]).flat();
    const rewritten: number[] = [];
    const { session } = await place.open({ history, onHistory: (all) => void rewritten.push(all.length) });
    await session.run({ text: "and now?" });
    expect(rewritten).toEqual([5]);
    expect(session.history.map(({ role }) => role)).toEqual([
      ...["user", "user", "assistant", "user", "assistant"],
      ...["user", "assistant"],
    ]);
  });
});

describe("a denial of a path", () => {
  const search = [
    { name: "grep", input: { pattern: "word" } },
    { name: "glob", input: { pattern: "**/*" } },
    { name: "read_file", input: { path: "private/a.txt" } },
  ];

  test("holds for what a search comes upon too", async () => {
    place.write("private/a.txt", "word");
    place.write("public/b.txt", "word");
    model.script(chatReply("", search), chatReply("ok"));
    const rule = { tool: "*", match: { pathGlob: "private/**" }, decision: "deny", reason: "private" };
    const { session } = await place.open({}, { permissions: [rule] });
    await session.run({ text: "look" });
    const [grep, glob, read] = answersOf(session.history);
    expect(grep).toBe("public/b.txt:1:word");
    expect(glob).toBe("public/b.txt");
    expect(read).toContain("Denied by policy: private");
  });

  test("is built in for our own state, when the workspace is the home directory", async () => {
    place.env["HOME"] = place.cwd;
    place.env["XDG_STATE_HOME"] = `${place.cwd}/.local/state`;
    place.write(".ssh/id", "word");
    place.write("b.txt", "word");
    place.write(".demian/config.json", readFileSync(`${place.home}/.demian/config.json`, "utf8"));
    const read = { name: "read_file", input: { path: ".demian/config.json" } };
    model.script(chatReply("", [...search, read]), chatReply("ok"));
    const { session } = await place.open();
    await session.run({ text: "look" });
    const answers = answersOf(session.history);
    expect(answers[0]).toBe("b.txt:1:word");
    expect(answers[1]).toBe("b.txt");
    expect(answers[3]).toContain("agents cannot access");
  });
});

describe("opening", () => {
  test.each([
    ["an unknown agent", { agent: "biuld" }, "unknown_agent", "did you mean build?"],
    ["an unknown provider", { provider: "locl" }, "unknown_provider", "did you mean local?"],
    ["a session id that is a path", { sessionId: "../x" }, "bad_session_id", "letters"],
    ["a provider without its key", { provider: "groq" }, undefined, "GROQ_API_KEY"],
  ])("%s is refused with what to do", async (_, order, code, words) => {
    const error: unknown = await place.open(order).catch((caught: unknown) => caught);
    expect(error).toMatchObject({ message: expect.stringContaining(words) });
    if (code !== undefined) expect(error).toMatchObject({ code });
  });

  test("reports meaningless settings at once", async () => {
    const { warnings } = await place.runtime({
      defaultProvider: "locl",
      permissions: [{ tool: "Bash", decision: "deny" }],
    });
    expect(warnings).toEqual([
      expect.stringMatching(/rule for "Bash" matches no tool.*did you mean "bash"\?/),
      expect.stringMatching(/there is no provider "locl"; did you mean "local"\?/),
    ]);
  });

  test("in a missing directory is refused", async () => {
    await expect(createRuntime({ cwd: `${place.cwd}/gone`, env: place.env })).rejects.toMatchObject({
      code: "bad_cwd",
    });
  });

  test("a hook that blocks the start of a session blocks it", async () => {
    const hook = {
      name: "no",
      event: "SessionStart",
      command: 'echo \'{"decision":"block","message":"not today"}\'',
    };
    await expect(place.open({}, { hooks: [hook] })).rejects.toMatchObject({
      code: "blocked",
      message: expect.stringContaining("not today"),
    });
  });
});

function answersOf(history: readonly Message[]): string[] {
  return history.flatMap((message) => (message.role === "tool" ? [message.content] : []));
}

async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await new Promise((resolve) => setImmediate(resolve));
}

describe("commands beside the conversation", () => {
  const bash = (input: object) => chatReply("", [{ name: "bash", input }]);
  const userTexts = () =>
    model.requests.map(({ body }) =>
      (body as { messages: Message[] }).messages.flatMap(({ role, content }) =>
        role === "user" ? [String(content)] : [],
      ),
    );

  test("one in the background outlives its turn, its end is told to the model, and it ends with the session", async () => {
    const { session, events } = await place.open({ yes: true });
    model.script(
      bash({ command: "echo ready; until [ -e go ]; do sleep 0.05; done; exit 3", background: true }),
      bash({ command: "echo $$ > pid; exec sleep 1000", background: true }),
      chatReply("started"),
      chatReply("ended"),
    );
    expect(await session.run({ text: "serve" })).toMatchObject({ text: "started" });
    expect(session.jobs.list()).toMatchObject([{ id: 1 }, { id: 2 }]);
    expect(session.jobs.list().every(({ end }) => end === undefined)).toBe(true);
    place.write("go", "");
    await until(() => events.some(({ type }) => type === "job.ended"));
    await session.run({ text: "and now?" });
    expect(userTexts().at(-1)?.at(-1)).toMatch(/^\[job 1 has ended: exit code 3;.*\n\nand now\?$/s);
    expect(events.filter(({ type }) => type === "user.message")).toMatchObject([{}, { text: "and now?" }]);
    await session.close();
    expect(session.jobs.list()).toMatchObject([{ end: "exit code 3" }, { end: "killed" }]);
  });

  test("of the user needs no approval, and the model reads the output with the next message", async () => {
    const { session, prompts } = await place.open();
    model.script(chatReply("I see."));
    const { signal } = new AbortController();
    expect(await session.runCommand({ command: "echo hello; exit 2", signal })).toEqual({
      output: "hello\n",
      end: "exit code 2",
      isGood: false,
    });
    await session.run({ text: "why?" });
    expect(prompts).toEqual([]);
    expect(userTexts().at(-1)).toEqual([
      "The user ran a command:\n<user_command>\n$ echo hello; exit 2\nhello\n[exit code 2]\n</user_command>\n\nwhy?",
    ]);
  });

  test("of the user is stopped like a turn, and no turn starts meanwhile", async () => {
    const { session } = await place.open();
    const { signal } = new AbortController();
    const running = session.runCommand({ command: "sleep 1000", signal });
    await expect(session.run({ text: "hi" })).rejects.toMatchObject({ code: "session_busy" });
    await session.abort();
    expect(await running).toMatchObject({ end: "aborted", isGood: false });
  });
});
