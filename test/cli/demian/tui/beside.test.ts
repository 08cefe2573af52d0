// What the user does beside the conversation, without the daemon: commands with `!`, /jobs and /undo.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { chatReply } from "../../../support/model-server.ts";
import { messagesOf } from "../every-terminal.ts";
import { write } from "../several-agents.ts";
import { usePlace } from "./stage.ts";
import { entries } from "./watcher.ts";

const place = usePlace();
const { world, open } = place;
const at = (path: string) => join(world.workspace, path);
function lastText(index: number): string {
  const { content } = messagesOf(place.model, index).at(-1) as { content?: unknown };
  return String(content);
}

afterEach(() => {
  for (const path of [".git", "a.txt", "b.txt"]) rmSync(at(path), { recursive: true, force: true });
});

function makeRepository(): void {
  execFileSync("git", ["init", "-q", world.workspace]);
  writeFileSync(at("a.txt"), "before\n");
}

describe("a command with !", () => {
  test("shows its output and how it ended, and the model reads it with the next message", async () => {
    place.model.script(chatReply("I see."));
    const stage = await open();
    await stage.driver.send("!echo hello; exit 3");
    await stage.until((view) => entries(view, "notice").find(({ text }) => text === "hello\n[exit code 3]"));
    expect(entries(stage.view, "notice").some(({ text }) => text === "$ echo hello; exit 3")).toBe(true);
    await stage.driver.send("why?");
    await stage.turns(1);
    expect(lastText(0)).toMatch(/\$ echo hello; exit 3\nhello\n\[exit code 3\]\n<\/user_command>\n\nwhy\?$/);
    // The message on the screen is what the user wrote.
    expect(entries(stage.view, "user")).toMatchObject([{ text: "why?" }]);
  });

  test("is ended by /stop, and a message waits for it", async () => {
    place.model.script(chatReply("ok"));
    const stage = await open();
    await stage.driver.send("!sleep 1000");
    const sent = stage.driver.send("next");
    await stage.command("/stop", "");
    await sent;
    await stage.turns(1);
    expect(lastText(0)).toContain("[aborted]");
  });

  test("with a leading space is a message", async () => {
    place.model.script(chatReply("ok"));
    const stage = await open();
    await stage.driver.send(" !important");
    await stage.turns(1);
    expect(lastText(0)).toBe("!important");
  });
});

describe("/undo", () => {
  test("takes back what the last turn did to files, and tells the model", async () => {
    makeRepository();
    place.model.script(
      write("a.txt", "after\n"),
      write("b.txt", "new\n"),
      chatReply("done"),
      chatReply("ok"),
    );
    const stage = await open({ order: { yes: true } });
    await stage.driver.send("change them");
    await stage.turns(1);
    await stage.command("/undo", "");
    expect(readFileSync(at("a.txt"), "utf8")).toBe("before\n");
    expect(existsSync(at("b.txt"))).toBe(false);
    await stage.notice(/undid turn 1:\n {2}restored a\.txt\n {2}deleted b\.txt/);
    await stage.driver.send("go on");
    await stage.turns(2);
    expect(lastText(3)).toMatch(
      /^The user undid the file changes of your last turn.*restored a\.txt.*go on$/s,
    );
    await expect(stage.command("/undo", "")).rejects.toThrow("no turn of this session changed files");
  });

  test("leaves a file that was changed since, unless it is forced", async () => {
    makeRepository();
    place.model.script(write("a.txt", "after\n"), chatReply("done"));
    const stage = await open({ order: { yes: true } });
    await stage.driver.send("change it");
    await stage.turns(1);
    const isRecorded = async () => (await stage.driver.changes.list({ limit: 1 })).turns[0]?.ended_at_ms;
    while ((await isRecorded()) === undefined);
    writeFileSync(at("a.txt"), "mine\n");
    await stage.command("/undo", "");
    await stage.notice(/turn 1 was not undone.*\/undo force.*left a\.txt: it was changed after turn 1/s);
    expect(readFileSync(at("a.txt"), "utf8")).toBe("mine\n");
    await stage.command("/undo", "force");
    expect(readFileSync(at("a.txt"), "utf8")).toBe("before\n");
  });

  test("says why it cannot, outside a repository", async () => {
    place.model.script(write("b.txt", "new\n"), chatReply("done"));
    const stage = await open({ order: { yes: true } });
    await stage.driver.send("write it");
    await stage.turns(1);
    await expect(stage.command("/undo", "")).rejects.toThrow("is not in a git repository");
    await expect(stage.command("/undo", "all")).rejects.toThrow("use /undo or /undo force");
  });

  test("the changes of each turn can be read, as in the daemon's sessions", async () => {
    makeRepository();
    place.model.script(write("a.txt", "after\n"), chatReply("done"));
    const stage = await open({ order: { yes: true } });
    await stage.driver.send("change it");
    await stage.turns(1);
    const reply = await stage.driver.changes.list({ limit: 10 });
    expect(reply).toMatchObject({ state: "ok", files: [{ path: "a.txt", status: "modified" }] });
  });
});

test("/jobs lists what runs in the background, and ends one", async () => {
  const start = { command: "sleep 1000", background: true };
  place.model.script(chatReply("", [{ name: "bash", input: start }]), chatReply("started"));
  const stage = await open({ order: { yes: true } });
  await stage.command("/jobs", "");
  await stage.notice(/no background commands/);
  await stage.driver.send("serve");
  await stage.turns(1);
  await stage.command("/jobs", "");
  await stage.notice(/^1 {2}running, .* sleep 1000$/);
  await expect(stage.command("/jobs", "kill 2")).rejects.toThrow("/jobs kill N with one of: 1");
  await stage.command("/jobs", "kill 1");
  await stage.notice(/^1 {2}killed, /);
});
