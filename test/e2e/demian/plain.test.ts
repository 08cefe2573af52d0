// The installed demian-plain at a real terminal: it fixes a failing test, step by step, with a scripted model over real
// HTTP and commands in the sandbox.
import { mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { ASKED, acceptSettings, READY } from "../../cli/demian/every-terminal.ts";
import { hasPty, Pty, plain } from "../../cli/demian/pty.ts";
import { bash, chatReply, type ModelServer, startModelServer } from "../../support/model-server.ts";
import { ROOT } from "../../support/root.ts";
import { untilGone, untilRuns } from "../processes.ts";
import {
  BROKEN,
  configure,
  lastSent,
  MENDED,
  mendingReplies,
  TEST_COMMAND,
  toolsOf,
  transcriptOf,
  writeRepository,
} from "./repository.ts";

let directory: string;
let home: string;
let work: string;
let adapter: string;
let model: ModelServer;
let terminal: Pty;

beforeEach(async () => {
  model = await startModelServer();
  directory = realpathSync(mkdtempSync(join(tmpdir(), "blemees-e2e-")));
  home = join(directory, "home");
  work = join(directory, "work");
  writeRepository(work);
  adapter = await configure(home, model.url);
  return async () => {
    terminal.kill();
    await model.close();
    // It keeps its compiled code below its home when it exits.
    await untilGone(`HOME=${home}`);
    rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
  };
});

const content = () => readFileSync(join(work, "sum.js"), "utf8");

/** Starts it, and accepts the settings that it shows. */
async function start(args: string[] = []): Promise<string> {
  terminal = new Pty(join(ROOT, "dist/demian-plain.js"), args, {
    cwd: work,
    env: { HOME: home, TMPDIR: directory },
    stdoutFile: join(directory, "answer"),
  });
  return acceptSettings(terminal);
}

describe.runIf(hasPty)("at a terminal", () => {
  test("a failing test is read, run in the sandbox, fixed and run again, with a prompt before each effect", async () => {
    model.script(...mendingReplies());
    expect(await start()).toContain(
      "provider local (config) · model the-model (config) · agent build (config)",
    );

    terminal.enter("make the test pass");
    expect(await lastSent(model, 0)).toEqual({ role: "user", content: "make the test pass" });
    // It reads without asking.
    expect(await lastSent(model, 1)).toMatchObject({
      role: "tool",
      content: expect.stringContaining("a - b"),
    });

    const first = await terminal.until(ASKED);
    expect(first).toContain(`$ ${TEST_COMMAND}`);
    expect(model.requests).toHaveLength(2);
    terminal.enter("y");
    const failed = await lastSent(model, 2);
    expect(failed.content).toMatch(/one and two are three/);
    expect(failed.content).toMatch(/fail 1/);

    const second = await terminal.until(ASKED);
    expect(second).toMatch(/edit_file[\s\S]*sum\.js/);
    expect(second).toMatch(/^ *-export .*a - b;\n *\+export .*a \+ b;$/m);
    expect(content()).toBe(BROKEN);
    terminal.enter("y");
    await lastSent(model, 3);
    expect(content()).toBe(MENDED);

    expect(await terminal.until(ASKED)).toContain(`$ ${TEST_COMMAND}`);
    terminal.enter("y");
    expect((await lastSent(model, 4)).content).toMatch(/fail 0/);
    await terminal.until(/It passes now[\s\S]*tokens in[\s\S]*\n> $/);
    terminal.enter("/exit");
    expect(await terminal.ended).toBe(0);

    expect(readFileSync(join(directory, "answer"), "utf8")).toBe("The sign was wrong. It passes now.\n");
    expect(toolsOf(transcriptOf(work))).toEqual([
      ["read_file", true, undefined],
      ["bash", false, adapter],
      ["edit_file", true, undefined],
      ["bash", true, adapter],
    ]);
  });

  test("a refused action is not done, and the model gets the reason", async () => {
    model.script(
      chatReply("", [{ name: "write_file", input: { path: "sum.js", content: "" } }]),
      chatReply("Then not."),
    );
    await start();
    terminal.enter("empty it");
    await terminal.until(ASKED);
    terminal.enter("n keep the file");
    await terminal.until(/Then not[\s\S]*\n> $/);
    expect((await lastSent(model, 1)).content).toContain("keep the file");
    expect(content()).toBe(BROKEN);
  });

  test("Ctrl-C in the middle of a command ends it and all its processes, and the chat continues", async () => {
    model.script(bash("sleep 64 & sleep 65"), chatReply("Here I am."));
    await start();
    terminal.enter("take your time");
    await terminal.until(ASKED);
    terminal.enter("y");
    const mark = `HOME=${home}`;
    await Promise.all([untilRuns(mark, "sleep 64"), untilRuns(mark, "sleep 65")]);
    terminal.type("\x03");
    await terminal.until(READY);
    await untilGone(mark, "sleep");
    terminal.enter("are you there?");
    expect(plain(await terminal.until(/Here I am[\s\S]*\n> $/))).toContain("Here I am.");
    terminal.type("\x04");
    expect(await terminal.ended).toBe(0);
    await untilGone(mark);
  });
});
