// The whole runtime on one small task, step by step, with the model over real HTTP: read, see the test fail, edit after
// asking, see it pass, answer.
import { afterEach, beforeEach, expect, test } from "vitest";
import { chatReply, type ModelServer, startModelServer } from "../support/model-server.ts";
import { Place } from "./place.ts";

let place: Place;
let model: ModelServer;

beforeEach(async () => {
  place = new Place();
  model = await startModelServer();
  place.configure({
    defaultProvider: "local",
    providers: { local: { type: "openai-compatible", model: "the-model", baseURL: `${model.url}/v1` } },
    // Where there is no bubblewrap the rest is still worth a test.
    sandbox: { allowEnvOnly: true },
  });
  place.write("sum.js", "export const sum = (a, b) => a - b;\n");
  place.write(
    "check.js",
    'import { sum } from "./sum.js";\nif (sum(1, 2) !== 3) throw new Error("sum is wrong");\n',
  );
  place.write("package.json", '{"type":"module"}\n');
});

afterEach(async () => {
  await place.close();
  await model.close();
});

const run = { name: "bash", input: { command: "node check.js" } };

test("a failing check is read, run, fixed and run again, with a request before each effect", async () => {
  model.script(
    chatReply("Let me look.", [{ name: "read_file", input: { path: "sum.js" } }]),
    chatReply("", [run]),
    chatReply("", [{ name: "edit_file", input: { path: "sum.js", oldString: "a - b", newString: "a + b" } }]),
    chatReply("", [run]),
    chatReply("It passes now."),
  );
  const { session, events, prompts } = await place.open();
  const report = await session.run({ text: "mend sum.js" });
  expect(report).toMatchObject({ outcome: "completed", text: "It passes now.", turns: 5 });
  expect(place.read("sum.js")).toBe("export const sum = (a, b) => a + b;\n");

  const tools = events.flatMap((event) =>
    event.type === "tool.completed" || event.type === "tool.failed" ? [[event.name, event.ok]] : [],
  );
  expect(tools).toEqual([
    ["read_file", true],
    ["bash", false],
    ["edit_file", true],
    ["bash", true],
  ]);
  expect(prompts.map(({ tool, command, changes }) => ({ tool, command, changes }))).toEqual([
    { tool: "bash", command: "node check.js", changes: undefined },
    {
      tool: "edit_file",
      command: undefined,
      changes: [
        {
          path: "sum.js",
          oldText: "export const sum = (a, b) => a - b;\n",
          newText: "export const sum = (a, b) => a + b;\n",
        },
      ],
    },
    { tool: "bash", command: "node check.js", changes: undefined },
  ]);
  const answers = session.history.flatMap((message) => (message.role === "tool" ? [message.content] : []));
  expect(answers[0]).toContain("export const sum = (a, b) => a - b;");
  expect(answers[1]).toContain("sum is wrong");
  // What the model was asked with last is the whole story.
  const last = model.requests.at(-1)?.body as { messages: { role: string }[]; tools: object[] };
  expect(last.messages.map(({ role }) => role).join(" ")).toBe(
    "system user assistant tool assistant tool assistant tool assistant tool",
  );
  // The prefix that a provider caches.
  const first = model.requests[0]?.body as typeof last;
  expect(last.tools).toEqual(first.tools);

  await session.close();
  const lines = place.read(`.demian/transcripts/${session.id}/session.jsonl`).trim().split("\n");
  const transcript = lines.map((line) => JSON.parse(line) as { type: string; sandbox?: string });
  expect(transcript.map(({ type }) => type)).toEqual(
    events.map(({ type }) => type).filter((type) => !/delta$|^tool\.output$/.test(type)),
  );
  const adapters = transcript.flatMap(({ type, sandbox }) =>
    type === "tool.started" && sandbox ? [sandbox] : [],
  );
  expect(adapters).toEqual([session.sandbox, session.sandbox]);
});

test("a refusal reaches the model with the user's reason, nothing runs, and the file is unchanged", async () => {
  model.script(
    chatReply("", [{ name: "write_file", input: { path: "sum.js", content: "" } }]),
    chatReply("", [run]),
    chatReply("Then I leave it."),
  );
  const { session, prompts } = await place.open({
    ask: () => Promise.resolve({ decision: "deny", reason: "hands off" }),
  });
  expect(await session.run({ text: "empty it" })).toMatchObject({ outcome: "completed" });
  expect(prompts).toHaveLength(2);
  expect(place.read("sum.js")).toContain("a - b");
  const answers = session.history.flatMap((message) => (message.role === "tool" ? [message.content] : []));
  expect(answers).toEqual([expect.stringContaining("hands off"), expect.stringContaining("hands off")]);
});

test("the plan agent sees no tool that changes anything", async () => {
  model.script(chatReply("", [{ name: "bash", input: { command: "touch x" } }]), chatReply("I only plan."));
  const { session, prompts } = await place.open({ agent: "plan" });
  await session.run({ text: "go" });
  const { tools } = (await model.request(0)).body as { tools: { function: { name: string } }[] };
  expect(tools.map((tool) => tool.function.name)).toEqual(["read_file", "grep", "glob"]);
  expect(prompts).toEqual([]);
});

test("the keys of providers, and other variables, are not in the environment of a command", async () => {
  place.env["OPENAI_API_KEY"] = "sk-secret";
  place.env["COPY_OF_IT"] = "sk-secret";
  place.env["TZ"] = "UTC";
  place.env["GITHUB_TOKEN"] = "ghp-secret";
  model.script(chatReply("", [{ name: "bash", input: { command: "env" } }]), chatReply("ok"));
  const { session } = await place.open();
  await session.run({ text: "go" });
  const [answer] = session.history.flatMap((message) => (message.role === "tool" ? [message.content] : []));
  expect(answer).toContain("TZ=UTC");
  expect(answer).not.toMatch(/sk-secret|ghp-secret/);
});

test("a session continues with the history of an earlier one", async () => {
  model.script(chatReply("Noted."), chatReply("It was blue."));
  const first = await place.open();
  await first.session.run({ text: "remember blue" });
  const second = await place.open({ history: first.session.history });
  await second.session.run({ text: "which colour?" });
  const { messages } = (await model.request(1)).body as { messages: { content: string }[] };
  expect(messages.map(({ content }) => content).slice(1)).toEqual([
    "remember blue",
    "Noted.",
    "which colour?",
  ]);
  expect(second.events[0]).toMatchObject({ type: "session.started", resumed: true });
});
