// demian-plain at a real terminal, against a model on loopback.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import {
  chatReply,
  chunk,
  type ModelServer,
  type Reply,
  sse,
  startModelServer,
} from "../../support/model-server.ts";
import { BuiltDemian } from "./built-demian.ts";
import { hasPty, type Pty, plain } from "./pty.ts";
import { World } from "./world.ts";

const READY = /\n> $/;
const DONE = /\n· \d+ turns?[\s\S]*\n> $/;
const ASKED = /\[y\]es once[^\n]*: $/;

const world = new World();
let demian: BuiltDemian;
let model: ModelServer;
let terminal: Pty | undefined;

beforeAll(async () => {
  demian = await BuiltDemian.build(world);
});
afterAll(() => world.remove());
beforeEach(async () => {
  model = await startModelServer();
  world.begin(model.url);
});
afterEach(async () => {
  terminal?.kill();
  await model.close();
});

function open(args: string[] = [], stdoutFile?: string): Pty {
  terminal = demian.terminal(args, stdoutFile);
  return terminal;
}

async function begin(stdoutFile?: string): Promise<Pty> {
  const pty = open([], stdoutFile);
  await pty.until("provider [");
  pty.enter("");
  await pty.until("model [");
  pty.enter("");
  await pty.until(READY);
  return pty;
}

/** Says these words, and then nothing until the client goes or the test says so. */
function stuck(
  text: string,
  more: Promise<void> = new Promise(() => undefined),
  then: Reply = chatReply(""),
): Reply {
  return async (exchange) => {
    exchange.head();
    await exchange.write(sse(chunk({ content: text })));
    await Promise.race([more, exchange.gone]);
    await then({ ...exchange, head: () => undefined });
  };
}

const bash = (command: string) => chatReply("", [{ name: "bash", input: { command } }]);
const messagesOf = (index: number): { role: string }[] => {
  const body = model.requests[index]?.body ?? { messages: [] };
  return (body as { messages: { role: string }[] }).messages;
};

describe.runIf(hasPty)("at a real terminal", () => {
  test("the settings are shown, Enter accepts them, and messages are answered until /exit", async () => {
    model.script(chatReply("Hello **there**."), chatReply("Me again."));
    const pty = await begin();
    expect(plain(pty.text)).toContain(
      "provider local (config) · model small (config) · agent build (config)",
    );
    pty.enter("hi");
    expect((await pty.until(DONE)).match(/Hello \*\*there\*\*\./g)).toHaveLength(1);
    pty.enter("again");
    await pty.until(DONE);
    pty.enter("/exit");
    expect(await pty.ended).toBe(0);
    expect(messagesOf(1).map(({ role }) => role)).toEqual(["system", "user", "assistant", "user"]);
  });

  test("with the answer redirected, stdout is the answer alone and the rest stays on the screen", async () => {
    model.script(chatReply("Hello **there**."));
    const file = join(world.workspace, "out.md");
    const pty = await begin(file);
    pty.enter("hi");
    expect(await pty.until(DONE)).toContain("Hello **there**.");
    pty.type("\x04");
    await pty.ended;
    expect(readFileSync(file, "utf8")).toBe("Hello **there**.\n");
  });

  test("Ctrl-C stops it, and once more leaves with 130", async () => {
    model.script(stuck("let me think"));
    const pty = await begin();
    pty.enter("hi");
    await pty.until("think");
    pty.type("\x03");
    await pty.until(DONE);
    pty.type("\x03");
    expect(await pty.ended).toBe(130);
  });

  test("what was typed before it, or is pasted, does not answer it", async () => {
    let go = (): void => undefined;
    const more = new Promise<void>((resolve) => {
      go = resolve;
    });
    model.script(stuck("wait", more, bash("touch made.txt")), chatReply("ok"));
    const pty = await begin();
    pty.enter("make it");
    await pty.until("wait");
    pty.type("y");
    await pty.until("(running) > y");
    go();
    await pty.until(ASKED);
    pty.type("\x1b[200~y\ry\r\x1b[201~\r");
    await pty.until(/a pasted text answers nothing[\s\S]*: $/);
    expect(world.has("made.txt")).toBe(false);
    pty.enter("");
    await pty.until(DONE);
    expect(world.has("made.txt")).toBe(false);
  });

  test("two answers in one go approve one call, not the next", async () => {
    model.script(bash("touch one.txt"), bash("touch two.txt"), chatReply("ok"));
    const pty = await begin();
    pty.enter("make them");
    await pty.until(ASKED);
    pty.type("y\ry\ry\r");
    await pty.until(/touch two\.txt[\s\S]*\[y\]es once[^\n]*: $/);
    pty.enter("");
    await pty.until(DONE);
    const made = ["one.txt", "two.txt"].map((name) => world.has(name));
    expect(made).toEqual([true, false]);
  });

  test("is answered without a talk, and still asks", async () => {
    model.script(bash("touch made.txt"), chatReply("It is **made**."));
    const pty = open(["make", "it"]);
    await pty.until(ASKED);
    pty.enter("y");
    expect(await pty.ended).toBe(0);
    expect(plain(pty.text).match(/It is \*\*made\*\*\./g)).toHaveLength(1);
    expect(world.has("made.txt")).toBe(true);
  });

  test("Ctrl-C ends it with 130", async () => {
    model.script(stuck("let me think"));
    const pty = open(["think"]);
    await pty.until("think");
    pty.type("\x03");
    expect(await pty.ended).toBe(130);
  });
});
