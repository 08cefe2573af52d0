// Two editors on one session of the real claude, and a daemon that is killed in the middle of its turn.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { Editor, select } from "../../cli/acp/editor.ts";
import { PATIENT } from "../../support/patience.ts";
import { Machine } from "../manager/machine.ts";

let machine: Machine;
const editors: Editor[] = [];
beforeAll(async () => {
  machine = await Machine.create();
});
afterEach(() => Promise.all(editors.splice(0).map((editor) => editor.close())));
afterAll(() => machine.close());

async function openEditor(): Promise<Editor> {
  const editor = new Editor(
    spawn("sm", ["acp", "--agent", "claude"], { cwd: machine.cwd, env: { ...machine.env } }),
  );
  editors.push(editor);
  await editor.initialize();
  return editor;
}

test("both see everything once, over a kill -9 of the daemon; the first answer counts", async () => {
  const [one, two] = [await openEditor(), await openEditor()];
  const id = await one.create(machine.cwd);
  await one.prompt(id, "hello");
  await two.load(id, machine.cwd);
  const ended = one.prompt(id, "#mock:bash mkdir made-once");
  await Promise.all([one.asked(1), two.asked(1)]);
  expect(one.permissions[0]).toMatchObject({ toolCall: { title: "mkdir made-once", kind: "execute" } });

  const { pid } = await machine.http.status();
  process.kill(pid, "SIGKILL");
  // The next command starts it again; claude is still asking.
  await machine.sm("status");
  const [request] = await machine.requests(id);
  expect(request).toMatchObject({ status: "pending" });
  expect(await machine.sm("approve", "--yes", request?.request_id ?? "")).toMatchObject({ code: 0 });
  expect(await ended).toEqual({ stopReason: "end_turn" });
  expect(existsSync(join(machine.cwd, "made-once"))).toBe(true);
  await vi.waitFor(
    () => expect(two.text(id)).toBe(one.text(id).replace(/^.*?hello/s, "You said: hello")),
    PATIENT,
  );
  expect(one.text(id).match(/tool said/g)).toHaveLength(1);
  await vi.waitFor(() => {
    for (const { cancelled } of [one, two]) expect(cancelled).toEqual([request?.request_id]);
  }, PATIENT);
  for (const editor of [one, two]) editor.expectValid();

  // Answered in an editor, it is answered for the other one.
  one.onPermission = async () => select("accept");
  expect(await two.prompt(id, "#mock:bash mkdir made-by-the-other")).toEqual({ stopReason: "end_turn" });
  expect(existsSync(join(machine.cwd, "made-by-the-other"))).toBe(true);
});
