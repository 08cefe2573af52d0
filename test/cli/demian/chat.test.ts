// The plain chat in this process, with a model on loopback. In a real terminal: terminal.test.ts.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { gate } from "../../support/gate.ts";
import { bash, chatReply, type ModelServer, startModelServer, stuck } from "../../support/model-server.ts";
import { ASKED, acceptSettings, DONE, messagesOf, READY, testEveryTerminal } from "./every-terminal.ts";
import { Screenplay } from "./in-process.ts";
import { plain } from "./pty.ts";
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
  await model.close();
});
afterAll(() => world.remove());

function open(args: string[] = [], env: Record<string, string> = {}): Screenplay {
  terminal = new Screenplay(world, args, env);
  return terminal;
}

async function begin(args: string[] = [], env: Record<string, string> = {}): Promise<Screenplay> {
  const pty = open(args, env);
  await acceptSettings(pty);
  return pty;
}

const lastOf = (index: number): string => JSON.stringify(messagesOf(model, index).at(-1));

describe("at a simulated terminal", () => {
  testEveryTerminal({ world, model: () => model, open });
});

describe("a chat", () => {
  test("? lists providers, a typo is guessed, a key resets the model, and the choice is saved", async () => {
    model.script(chatReply("ok"));
    const pty = open(["--model", "flagged"]);
    expect(await pty.until(/model \[|provider \[.*: $/)).toContain("model flagged (flag)");
    pty.enter("?");
    const listed = await pty.until(/locked[^\n]*\n[\s\S]*: $/);
    expect(listed).toMatch(
      /\* ✓ local +small\n {2}✓ other +large\n {2}• bare +needs a model name\n {2}✗ locked +.*NOT_SET/,
    );
    pty.enter("othr");
    await pty.until(/did you mean other\?[\s\S]*: $/);
    pty.enter("locked");
    await pty.until(/locked is not ready: .*NOT_SET_ANYWHERE[\s\S]*: $/);
    pty.enter("other");
    await pty.until("model [large, config]: ");
    pty.enter("huge");
    await pty.until(READY);
    pty.enter("hi");
    await pty.until(DONE);
    pty.enter("/exit");
    expect(await pty.ended).toBe(0);
    expect(await open().until(/: $/)).toContain("provider other (saved) · model huge (saved)");
  });

  test("a provider without a model asks for one, and takes no message for it", async () => {
    const pty = open(["--provider", "bare"]);
    await pty.until("provider [bare, flag]: ");
    pty.enter("");
    await pty.until("model: ");
    pty.enter("");
    await pty.until(/has no default model[\s\S]*model: $/);
    pty.enter("fix the tests please");
    await pty.until(/has no spaces[\s\S]*model: $/);
    pty.enter("tiny");
    await pty.until(READY);
    model.script(chatReply("ok"));
    pty.enter("hi");
    await pty.until(DONE);
    expect(model.requests[0]?.body).toMatchObject({ model: "tiny" });
  });

  test("a line that ends with a backslash continues, and pasted text is one message", async () => {
    model.script(chatReply("one"), chatReply("two"));
    const pty = await begin();
    pty.enter("first\\");
    await pty.until(/… $/);
    pty.enter("second");
    await pty.until(DONE);
    expect(lastOf(0)).toContain("first\\nsecond");
    pty.type("\x1b[200~a\rb\rc\x1b[201~");
    await pty.until(/c$/);
    pty.enter("");
    await pty.until(DONE);
    expect(lastOf(1)).toContain("a\\nb\\nc");
  });

  test("commands change agent, provider and model between messages, and none reaches the model", async () => {
    model.script(chatReply("ok"));
    const pty = await begin();
    for (const [typed, shown] of [
      ["/help", "/compact"],
      ["/compact", "nothing to compact yet"],
      ["/stop", "no task is running"],
      ["/agent plan", "agent plan"],
      ["/agent nobody", 'there is no agent "nobody"'],
      ["/provider other", "provider other, model large"],
      ["/provider oter", "did you mean other?"],
      ["/model huge", "model huge"],
      ["/exti", "did you mean /exit?"],
    ] as const) {
      pty.enter(typed);
      expect(await pty.until(READY)).toContain(shown);
    }
    pty.enter("hi");
    await pty.until(DONE);
    expect(model.requests).toHaveLength(1);
    expect(model.requests[0]?.body).toMatchObject({ model: "huge" });
    expect(JSON.stringify(model.requests[0]?.body)).not.toContain("/help");
  });

  test("Ctrl-D exits, and so does Ctrl-C twice, with 130", async () => {
    const first = await begin();
    first.type("\x04");
    expect(await first.ended).toBe(0);
    const second = await begin();
    second.type("half a li");
    await second.until("half a li");
    second.type("\x03");
    await second.until(READY);
    second.type("\x03");
    await second.until(/Ctrl-C again[\s\S]*> $/);
    second.type("\x03");
    expect(await second.ended).toBe(130);
  });

  test("NO_COLOR means no colours", async () => {
    model.script(chatReply("ok"), chatReply("ok"));
    for (const [env, isPlain] of [
      [{ NO_COLOR: "1" }, true],
      [{}, false],
    ] as const) {
      const pty = await begin([], env);
      pty.enter("hi");
      await pty.until(DONE);
      expect(!pty.text.includes("\x1b[2m")).toBe(isPlain);
      pty.kill();
    }
  });
});

describe("a running task", () => {
  test("/stop ends it and the chat continues", async () => {
    model.script(stuck("let me think"), chatReply("fine"));
    const pty = await begin();
    pty.enter("hi");
    await pty.until("think");
    pty.enter("/stop");
    await pty.until(DONE);
    pty.enter("and now?");
    expect(await pty.until(DONE)).toContain("fine");
  });

  test("/exit ends it and exits", async () => {
    model.script(stuck("let me think"));
    const pty = await begin();
    pty.enter("hi");
    await pty.until("think");
    pty.enter("/exit");
    expect(await pty.ended).toBe(0);
  });

  test("text typed meanwhile is not mixed into the answer, and is sent afterwards", async () => {
    const more = gate();
    model.script(stuck("first", more.passed, chatReply(" and last")), chatReply("done too"));
    const pty = await begin();
    pty.enter("hi");
    await pty.until("first");
    pty.type("next thing");
    await pty.until(/\n\(running\) > next thing$/);
    pty.enter("");
    await pty.until("queued until this task is done");
    more.open();
    await pty.until(/and last[\s\S]*tokens in[\s\S]*> next thing\n[\s\S]*done too[\s\S]*> $/);
    expect(lastOf(1)).toContain("next thing");
  });

  test("the answer waits while the user types, and the typed text is still there after it", async () => {
    const more = gate();
    model.script(stuck("first", more.passed, chatReply(" and last")), chatReply("done too"));
    const pty = await begin();
    pty.enter("hi");
    await pty.until("first");
    pty.type("next thing");
    await pty.until("(running) > next thing");
    more.open();
    await pty.until(/\n> next thing$/);
    expect(pty.text).toContain("\r\x1b[J and last");
    pty.enter("");
    await pty.until(/done too[\s\S]*\n> $/);
    expect(lastOf(1)).toContain("next thing");
  });
});

describe("a permission prompt", () => {
  test("shows the whole command, and yes lets it run once", async () => {
    model.script(bash("echo made > made.txt; cat made.txt"), chatReply("done"));
    const pty = await begin();
    pty.enter("make it");
    const shown = await pty.until(ASKED);
    expect(shown).toContain("$ echo made > made.txt; cat made.txt");
    expect(shown).toContain("[y]es once / [N]o: ");
    pty.enter("y");
    await pty.until(DONE);
    expect(readFileSync(join(world.workspace, "made.txt"), "utf8")).toBe("made\n");
    expect(lastOf(1)).toContain("made");
  });

  test.each([
    ["Enter", "\r", undefined],
    ["no with a reason", "n use make instead\r", "use make instead"],
  ])("%s means no, and the model gets that answer", async (_name, keys, reason) => {
    model.script(bash("touch made.txt"), chatReply("then not"));
    const pty = await begin();
    pty.enter("make it");
    await pty.until(ASKED);
    pty.type(keys);
    await pty.until(DONE);
    expect(world.has("made.txt")).toBe(false);
    expect(lastOf(1)).toMatch(/denied|refused|not allowed/i);
    if (reason !== undefined) expect(lastOf(1)).toContain(reason);
  });

  test("nonsense asks again, and always is accepted only if it is offered", async () => {
    model.script(bash("touch a.txt && touch b.txt"), chatReply("ok"));
    const pty = await begin();
    pty.enter("make it");
    await pty.until(ASKED);
    pty.enter("perhaps");
    await pty.until(/answer y, n[\s\S]*: $/);
    pty.enter("a");
    await pty.until(/always is not available[\s\S]*: $/);
    pty.enter("n");
    await pty.until(DONE);
    expect(world.has("a.txt")).toBe(false);
  });

  test("an answer typed together with the message does not count", async () => {
    model.script(bash("touch made.txt"), chatReply("then not"), chatReply("what?"));
    const pty = await begin();
    pty.type("make it\ry\r");
    await pty.until(ASKED);
    pty.enter("");
    await pty.until(/what\?[\s\S]*\n> $/);
    expect(world.has("made.txt")).toBe(false);
  });

  test("Ctrl-C stops the task, Ctrl-D means no and exits after it", async () => {
    model.script(bash("touch made.txt"), bash("touch made.txt"), chatReply("then not"));
    const pty = await begin();
    pty.enter("make it");
    await pty.until(ASKED);
    pty.type("\x03");
    await pty.until(DONE);
    pty.enter("make it");
    await pty.until(ASKED);
    pty.type("\x04");
    expect(await pty.ended).toBe(0);
    expect(world.has("made.txt")).toBe(false);
    expect(plain(pty.text)).toContain("then not");
  });

  test("control and invisible characters of the model have no effect in its text or in the prompt", async () => {
    const pty = await begin();
    for (const [evil, shown] of [
      ["\x1b[2J\x1b[H", "\\x1b[2J\\x1b[H"],
      ["\rls", "\\x0dls"],
      ["\x1b]0;evil\x07", "\\x1b]0;evil\\x07"],
      ["\u009b2J", "\\x9b2J"],
      ["\u202egnp", "<U+202E>gnp"],
      ["a\u200bb", "a<U+200B>b"],
      ["\x1b[1A\x1b[2KAllow?", "\\x1b[1A\\x1b[2KAllow?"],
    ] as const) {
      const call = { name: "bash", input: { command: `echo ${evil} end` } };
      model.script(chatReply(`so ${evil} it is`, [call]), chatReply("ok"));
      const before = pty.text.length;
      pty.enter("try");
      const asked = await pty.until(ASKED);
      expect(asked).toContain(`so ${shown} it is`);
      expect(asked).toContain(`$ echo ${shown} end`);
      expect(pty.text.slice(before)).not.toContain(evil);
      pty.enter("");
      await pty.until(DONE);
    }
  });

  test("a command longer than the screen cannot imitate our own text at the start of a row", async () => {
    const fake = "Allow build -> bash: ls?";
    model.script(bash(`rm -r x ${" ".repeat(100 - 13)}${fake}`), chatReply("ok"));
    const pty = await begin();
    pty.enter("try");
    const rows = (await pty.until(ASKED)).split("\n");
    expect(rows.filter((row) => row.includes(fake)).length).toBeGreaterThan(0);
    for (const row of rows) {
      expect(row.length).toBeLessThan(100);
      expect(row).not.toMatch(/^\s*Allow build -> bash: ls/);
    }
    pty.enter("");
    await pty.until(DONE);
  });
});
