// Tests for a chat at any terminal: one that is simulated in this process, and a real one.
import { expect, test } from "vitest";
import { gate } from "../../support/gate.ts";
import { bash, chatReply, type ModelServer, stuck } from "../../support/model-server.ts";
import { plain } from "./pty.ts";
import type { World } from "./world.ts";

export const READY = /\n> $/;
export const DONE = /\n· \d+ turns?[\s\S]*\n> $/;
export const ASKED = /\[y\]es once[^\n]*: $/;

export interface Terminal {
  /** All output so far, including escape sequences. */
  readonly text: string;
  readonly ended: Promise<number | null>;
  until(pattern: RegExp | string): Promise<string>;
  type(text: string): void;
  enter(text: string): void;
}

export interface Stage {
  world: World;
  model(): ModelServer;
  open(args: string[]): Terminal;
}

/** Accepts the settings that it shows, and returns them. */
export async function acceptSettings(terminal: Terminal): Promise<string> {
  const settings = await terminal.until("provider [");
  terminal.enter("");
  await terminal.until("model [");
  terminal.enter("");
  await terminal.until(READY);
  return settings;
}

export function messagesOf(model: ModelServer, index: number): { role: string }[] {
  const body = model.requests[index]?.body ?? { messages: [] };
  return (body as { messages: { role: string }[] }).messages;
}

export function testEveryTerminal({ world, model, open }: Stage): void {
  const begin = async () => {
    const terminal = open([]);
    await acceptSettings(terminal);
    return terminal;
  };

  test("the settings are shown, Enter accepts them, and messages are answered until /exit", async () => {
    model().script(chatReply("Hello **there**."), chatReply("Me again."));
    const terminal = await begin();
    expect(plain(terminal.text)).toContain(
      "provider local (config) · model small (config) · agent build (config)",
    );
    terminal.enter("hi");
    expect((await terminal.until(DONE)).match(/Hello \*\*there\*\*\./g)).toHaveLength(1);
    terminal.enter("again");
    await terminal.until(DONE);
    terminal.enter("/exit");
    expect(await terminal.ended).toBe(0);
    expect(messagesOf(model(), 1).map(({ role }) => role)).toEqual(["system", "user", "assistant", "user"]);
  });

  test("Ctrl-C stops a task, and again exits with 130", async () => {
    model().script(stuck("let me think"));
    const terminal = await begin();
    terminal.enter("hi");
    await terminal.until("think");
    terminal.type("\x03");
    await terminal.until(DONE);
    terminal.type("\x03");
    expect(await terminal.ended).toBe(130);
  });

  test("text typed before a permission prompt, or pasted, does not answer it", async () => {
    const more = gate();
    model().script(stuck("wait", more.passed, bash("touch made.txt")), chatReply("ok"));
    const terminal = await begin();
    terminal.enter("make it");
    await terminal.until("wait");
    terminal.type("y");
    await terminal.until("(running) > y");
    more.open();
    await terminal.until(ASKED);
    terminal.type("\x1b[200~y\ry\r\x1b[201~\r");
    await terminal.until(/pasted text is not accepted[\s\S]*: $/);
    expect(world.has("made.txt")).toBe(false);
    terminal.enter("");
    await terminal.until(DONE);
    expect(world.has("made.txt")).toBe(false);
  });

  test("two answers at once approve one call, not the next", async () => {
    model().script(bash("touch one.txt"), bash("touch two.txt"), chatReply("ok"));
    const terminal = await begin();
    terminal.enter("make them");
    await terminal.until(ASKED);
    terminal.type("y\ry\ry\r");
    await terminal.until(/touch two\.txt[\s\S]*\[y\]es once[^\n]*: $/);
    terminal.enter("");
    await terminal.until(DONE);
    const made = ["one.txt", "two.txt"].map((name) => world.has(name));
    expect(made).toEqual([true, false]);
  });

  test("a single message is answered without a chat, and still asks", async () => {
    model().script(bash("touch made.txt"), chatReply("It is **made**."));
    const terminal = open(["make", "it"]);
    await terminal.until(ASKED);
    terminal.enter("y");
    expect(await terminal.ended).toBe(0);
    expect(plain(terminal.text).match(/It is \*\*made\*\*\./g)).toHaveLength(1);
    expect(world.has("made.txt")).toBe(true);
  });
}
