// Continuing conversations: --continue, --resume, names, `demian sessions`. After a kill: resume-process.test.ts.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { SessionStore } from "../../../src/runtime/conversations/store.ts";
import { chatReply, type ModelServer, startModelServer } from "../../support/model-server.ts";
import { acceptSettings, DONE } from "./every-terminal.ts";
import { run as runIn, Screenplay } from "./in-process.ts";
import { World } from "./world.ts";

const world = new World();
let model: ModelServer;
let terminal: Screenplay | undefined;

beforeEach(async () => {
  model = await startModelServer();
  world.begin(model.url);
});
afterEach(async () => {
  terminal?.kill();
  await terminal?.ended;
  terminal = undefined;
  await model.close();
});
afterAll(() => world.remove());

const run = (...args: string[]) => runIn(world, args);
const store = () => new SessionStore(world.env);

/** One message, answered. */
async function talk(...args: string[]) {
  model.script(chatReply("ok"));
  const ran = await run(...args);
  expect(ran.code, ran.stderr).toBe(0);
  return ran;
}

interface Body {
  model: string;
  messages: { role: string; content: string }[];
  tools: { function: { name: string } }[];
}
const bodyOf = (index: number) => model.requests.at(index)?.body as Body;
const saidIn = (body: Body) =>
  body.messages.filter(({ role }) => role !== "system").map(({ content }) => content);

describe("--continue", () => {
  test("takes up the last conversation of the directory, and each message is stored with it", async () => {
    await talk("an older one");
    await talk("one");
    const { stderr } = await talk("--continue", "two");
    expect(stderr).toMatch(/continuing one: 2 messages, last used \d+s ago/);
    await talk("-c", "three");
    expect(saidIn(bodyOf(-1))).toEqual(["one", "ok", "two", "ok", "three"]);
  });

  test("keeps provider, model and agent mode of the conversation, unless a flag changes them", async () => {
    await talk("--provider", "other", "--model", "huge", "--multi-agent", "one");
    await talk("--continue", "two");
    expect(bodyOf(-1).model).toBe("huge");
    expect(bodyOf(-1).tools.map((tool) => tool.function.name)).toContain("delegate_agent");
    await talk("--continue", "--provider", "local", "--single-agent", "three");
    expect(bodyOf(-1)).toMatchObject({ model: "small" });
    expect(saidIn(bodyOf(-1))).toHaveLength(5);
    await talk("--continue", "four");
    expect(bodyOf(-1).model).toBe("small");
  });

  test("uses the default instead of a provider that no longer exists, and says so", async () => {
    await talk("--provider", "other", "one");
    const { other: _, ...providers } = JSON.parse(readFileSync(world.configFile, "utf8")).providers;
    writeFileSync(world.configFile, JSON.stringify({ defaultProvider: "local", providers }));
    const { stderr } = await talk("--continue", "two");
    expect(stderr).toContain("this conversation used the provider other, which no longer exists");
    expect(bodyOf(-1).model).toBe("small");
  });

  test.each([
    [["--continue", "hi"], 1, /no conversation in this directory yet/],
    [["--resume=ses_nothing", "hi"], 1, /no conversation "ses_nothing"; `demian-plain sessions` lists/],
    [["--resume", "hi"], 2, /no conversation "hi" in this directory.*--resume=ID/],
    [["--resume"], 2, /--resume needs a conversation here: --resume=ID/],
    [["--continue", "--resume=x", "hi"], 2, /give --continue or --resume, not both/],
    [["--continue", "--no-transcript", "hi"], 2, /--no-transcript stores none/],
    [["--name", "a\u202eb", "hi"], 1, /a name is one line of at most 100 characters/],
  ])("%j is refused, and nothing is sent or stored", async (args, code, says) => {
    const ran = await run(...args);
    expect(ran).toMatchObject({ code, stdout: "", stderr: expect.stringMatching(says) });
    expect(model.requests).toEqual([]);
    expect(await store().list()).toEqual([]);
  });

  test("--no-transcript and the demo store nothing", async () => {
    await talk("--no-transcript", "one");
    expect((await run("--demo", "one")).code).toBe(0);
    expect(await store().list()).toEqual([]);
  });
});

describe("--resume", () => {
  test("finds a conversation by id, the start of an id, and name", async () => {
    await talk("--name", "parser work", "one");
    await talk("other");
    const id = (await store().list()).find(({ name }) => name === "parser work")?.id ?? "";
    for (const which of [
      [`--resume=${id}`],
      ["--resume", id],
      [`--resume=${id.slice(0, 12)}`],
      ["--resume=parser work"],
    ])
      expect((await talk(...which, "more")).stderr).toContain("continuing parser work");
    expect(saidIn(bodyOf(-1))).toHaveLength(9);
  });

  test("refuses one of another directory, and says where it belongs", async () => {
    await talk("one");
    const [session] = await store().list();
    mkdirSync(join(world.directory, "elsewhere"), { recursive: true });
    const ran = await run("--cwd", "../elsewhere", `--resume=${session?.id}`, "hi");
    expect(ran).toMatchObject({ code: 1, stderr: expect.stringContaining(`belongs to ${world.workspace}`) });
  });

  test("refuses one that another process has open", async () => {
    await talk("one");
    const [session] = await store().list();
    const opened = store().open(session?.id ?? "", session as never, () => undefined);
    for (const flag of ["--continue", `--resume=${session?.id}`])
      expect(await run(flag, "hi")).toMatchObject({
        code: 1,
        stderr: expect.stringMatching(/session ses_\S+ is open in process \d+; close it there first/),
      });
    expect((await run("sessions")).stdout).toMatch(/ open +small +one\n/);
    opened?.record.close();
    await talk("--continue", "two");
  });

  test("of two conversations with one name asks for an id", async () => {
    await talk("--name", "work", "one");
    await talk("--name", "work", "two");
    expect((await run("--resume=work", "hi")).stderr).toMatch(/2 conversations match "work": ses_.*, ses_/);
  });
});

describe("a plain chat", () => {
  test("offers a numbered list, recalls the end, and works across /compact and /name", async () => {
    await talk("first one");
    await talk("second one");
    terminal = new Screenplay(world, ["--resume"]);
    expect(await terminal.until("number [1]: ")).toMatch(
      / 1 {2}second one {2}\(1 turn · small · \ds\)\n 2 {2}first one/,
    );
    terminal.enter("3");
    await terminal.until(/a number from 1 to 2[\s\S]*number \[1\]: /);
    terminal.enter("2");
    await acceptSettings(terminal);
    expect(terminal.text).toMatch(/continuing first one: 2 messages[\s\S]*you: first one[\s\S]*answer: ok/);
    for (const text of ["more", "and more", "again"]) {
      model.script(chatReply("A long answer. ".repeat(60)));
      terminal.enter(text);
      await terminal.until(DONE);
    }
    terminal.enter("/compact");
    await terminal.until(/compacted the conversation/);
    terminal.enter("/name the first");
    await terminal.until("named the first; continue it with: demian --resume='the first'");
    terminal.enter("/name");
    await terminal.until("its name is the first");
    terminal.enter("/context");
    await terminal.until(/summary of older messages +\d+/);
    terminal.enter("/exit");
    expect(await terminal.ended).toBe(0);
    await talk("--resume=the first", "last");
    expect(saidIn(bodyOf(-1))[0]).toMatch(/first one/);
    expect(saidIn(bodyOf(-1)).at(-1)).toBe("last");
  });

  test("without a message leaves no conversation behind", async () => {
    terminal = new Screenplay(world, []);
    await acceptSettings(terminal);
    terminal.enter("/exit");
    await terminal.ended;
    const { stdout, stderr } = await run("sessions", "--all");
    expect({ stdout, stderr }).toEqual({ stdout: "", stderr: "no conversations yet\n" });
  });
});

describe("demian sessions", () => {
  test("lists, and removes all or nothing", async () => {
    await talk("--name", "work", "one");
    await talk("two");
    const { stdout } = await run("sessions");
    expect(stdout).toMatch(
      /^ID +USED +TURNS +FROM +MODEL +NAME\nses_\S+ +\ds +1 +terminal +small +two\nses_.* work\n$/,
    );
    const listed = JSON.parse((await run("sessions", "--json")).stdout) as { id: string; name?: string }[];
    expect(listed).toMatchObject([
      { title: "two", turns: 1, cwd: world.workspace },
      { name: "work", title: "one", provider: "local", agent: "build", source: "terminal" },
    ]);
    expect((await run("sessions", "--names")).stdout).toBe(`${listed[0]?.id}\nwork\n${listed[1]?.id}\n`);
    expect(await run("sessions", "--remove", "work", "nothing")).toMatchObject({ code: 1, stdout: "" });
    expect((await run("sessions", "--remove", "work")).stdout).toBe(`removed ${listed[1]?.id}\n`);
    expect((await store().list()).map(({ title }) => title)).toEqual(["two"]);
  });
});
