import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  appendFileSync,
  chmodSync,
  existsSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { SessionMeta } from "../../../src/runtime/conversations/record.ts";
import { SessionStore } from "../../../src/runtime/conversations/store.ts";
import type { Message } from "../../../src/runtime/messages.ts";
import { temporary } from "../acp/harness.ts";

const META: SessionMeta = {
  cwd: "/w",
  agent: "build",
  provider: "local",
  model: "small",
  createdAt: "2026-01-01T00:00:00.000Z",
  updatedAt: "2026-01-01T00:00:00.000Z",
};
const ASKED: Message = { role: "user", content: "hello" };
const CALLED: Message = {
  role: "assistant",
  content: "I look",
  toolCalls: [
    { id: "c1", name: "bash", input: {} },
    { id: "c2", name: "grep", input: {} },
  ],
};
const RESULT: Message = { role: "tool", toolCallId: "c1", name: "bash", content: "ok" };

async function kept(messages: readonly Message[]) {
  const home = temporary();
  const store = new SessionStore({ XDG_STATE_HOME: home });
  const id = store.newId();
  const faults: string[] = [];
  const onFault = (fault: string) => void faults.push(fault);
  const record = await store.create(id, META, onFault);
  for (const message of messages) record.append(message);
  const directory = join(home, "demian", "sessions", id);
  const reopen = () => {
    record.close();
    const opened = store.open(id, META, onFault);
    if (opened === undefined) throw new Error("it is missing");
    return opened;
  };
  return { store, id, record, directory, history: join(directory, "history.jsonl"), faults, reopen };
}

describe("the resume store", () => {
  test("keeps each message when it comes, for its user only", async () => {
    const { directory, history, record } = await kept([ASKED]);
    expect(readFileSync(history, "utf8")).toBe(`${JSON.stringify(ASKED)}\n`);
    record.append(CALLED);
    expect(readFileSync(history, "utf8").split("\n")).toHaveLength(3);
    expect(statSync(directory).mode & 0o777).toBe(0o700);
    for (const file of ["history.jsonl", "meta.json", "lock"]) {
      expect(statSync(join(directory, file)).mode & 0o777).toBe(0o600);
    }
  });

  test("a torn last line is dropped, and the next one starts on a new line", async () => {
    const session = await kept([ASKED]);
    appendFileSync(session.history, '{"role":"assistant","content":"ha');
    const opened = session.reopen();
    expect(opened.history).toEqual([ASKED]);
    opened.record.append({ role: "assistant", content: "again" });
    opened.record.close();
    const lines = readFileSync(session.history, "utf8").trimEnd().split("\n");
    expect(lines.map((line) => JSON.parse(line).content)).toEqual(["hello", "again"]);
  });

  test("calls without results are answered as interrupted, also on the disk", async () => {
    const session = await kept([ASKED, CALLED, RESULT]);
    const opened = session.reopen();
    expect(opened.history).toMatchObject([
      ASKED,
      CALLED,
      RESULT,
      {
        role: "tool",
        toolCallId: "c2",
        name: "grep",
        isError: true,
        content: expect.stringMatching(/Not finished/),
      },
    ]);
    expect(readFileSync(session.history, "utf8").trimEnd().split("\n")).toHaveLength(4);
    opened.record.close();
  });

  test("lines that are no messages are counted and left out", async () => {
    const session = await kept([ASKED]);
    appendFileSync(session.history, 'garbage\n{"role":"root"}\n{"role":"tool"}\n');
    const opened = session.reopen();
    expect(opened).toMatchObject({ lostLines: 3, history: [ASKED] });
    opened.record.close();
  });

  test("an entry that cannot be read is no reason to lose the messages", async () => {
    const session = await kept([ASKED]);
    writeFileSync(join(session.directory, "meta.json"), "");
    const opened = session.reopen();
    expect(opened.history).toEqual([ASKED]);
    expect(opened.record.meta).toEqual(META);
    opened.record.close();
  });

  test("ids that are no ids of ours never become paths", async () => {
    const { store, directory, record } = await kept([ASKED]);
    record.close();
    for (const id of ["..", "ses_../../../../etc/passwd", `${directory}`, "ses_a/b_aaaaaaaaaaaaaaaa", ""]) {
      expect(store.has(id)).toBe(false);
      expect(store.open(id, META, () => undefined)).toBeUndefined();
      expect(await store.remove(id)).toBe(false);
    }
    expect(existsSync(directory)).toBe(true);
  });

  test("sessions in which nothing was said go after a day, unless they are open", async () => {
    const { store, record, id } = await kept([]);
    const talked = await store.create(store.newId(), META, () => undefined);
    talked.update({ title: "something" });
    talked.close();
    const dayMs = 86_400_000;
    await store.prune(Date.now() + 2 * dayMs);
    expect(store.has(id)).toBe(true);
    record.close();
    await store.prune(Date.now() + dayMs / 2);
    expect(store.has(id)).toBe(true);
    await store.prune(Date.now() + 2 * dayMs);
    expect(store.has(id)).toBe(false);
    expect(await store.list()).toMatchObject([{ title: "something" }]);
  });

  test("those of terminals go after 90 days without use, unless they have a name", async () => {
    const { store } = await kept([]);
    const kinds = [{ title: "client" }, { title: "named", name: "n" }, { title: "terminal" }] as const;
    for (const [index, meta] of kinds.entries()) {
      const source = index === 0 ? {} : { source: "terminal" as const };
      const record = await store.create(store.newId(), META, () => undefined);
      record.update({ ...meta, ...source });
      record.close();
    }
    const titles = async () => (await store.list()).map(({ title }) => title).sort();
    await store.prune(Date.now() + 89 * 86_400_000);
    expect(await titles()).toEqual(["client", "named", "terminal"]);
    await store.prune(Date.now() + 91 * 86_400_000);
    expect(await titles()).toEqual(["client", "named"]);
  });

  test("those of a directory are found under each of its names", async () => {
    const { store, record } = await kept([]);
    const directory = temporary();
    const link = join(temporary(), "link");
    symlinkSync(directory, link);
    record.update({ title: "t", cwd: link });
    expect(await store.listIn(directory)).toHaveLength(1);
    expect(await store.listIn(link)).toHaveLength(1);
    expect(await store.listIn(temporary())).toEqual([]);
  });

  test("a failed write is reported once, and repeated when possible", async () => {
    const { record, history, faults } = await kept([]);
    writeFileSync(`${history}`, "");
    record.append(ASKED);
    // A directory in its place: nothing can be renamed onto it.
    const { rmSync, mkdirSync } = await import("node:fs");
    rmSync(history);
    mkdirSync(join(history, "in the way"), { recursive: true });
    record.rewrite([ASKED]);
    record.append(CALLED);
    expect(record.isFaulty).toBe(true);
    record.rewrite([ASKED]);
    expect(faults).toEqual([expect.stringMatching(/not stored/)]);
    // It would take the room that the disk lacks.
    expect(existsSync(`${history}.new`)).toBe(false);
    rmSync(history, { recursive: true });
    record.rewrite([ASKED, CALLED]);
    expect(record.isFaulty).toBe(false);
    expect(readFileSync(history, "utf8").trimEnd().split("\n")).toHaveLength(2);
    record.close();
  });

  test("metadata that cannot be written is reported once, not with every turn", async () => {
    const { record, directory, faults } = await kept([]);
    const entry = join(directory, "meta.json");
    const { rmSync, mkdirSync } = await import("node:fs");
    const block = () => {
      rmSync(entry);
      mkdirSync(join(entry, "in the way"), { recursive: true });
    };
    block();
    record.update({ title: "a" });
    record.update({ title: "b" });
    expect(faults).toEqual([expect.stringMatching(/cannot write the session.s metadata/)]);
    rmSync(entry, { recursive: true });
    record.update({ title: "c" });
    expect(JSON.parse(readFileSync(entry, "utf8"))).toMatchObject({ title: "c" });
    block();
    record.update({ title: "d" });
    expect(faults).toHaveLength(2);
    record.close();
  });
});

describe("the lock", () => {
  test("of a living process refuses, and names the process", async () => {
    const session = await kept([ASKED]);
    expect(() => session.store.open(session.id, META, () => undefined)).toThrow(
      new RegExp(`open in process ${process.pid}; close it there first`),
    );
    await expect(session.store.remove(session.id)).rejects.toThrow(/close it there first/);
    session.reopen().record.close();
    expect(existsSync(join(session.directory, "lock"))).toBe(false);
  });

  test("of a dead process is taken over, also when its number lives again", async () => {
    const session = await kept([ASKED]);
    const lock = join(session.directory, "lock");
    const { started } = JSON.parse(readFileSync(lock, "utf8")) as { started: string };
    session.record.close();
    const child = spawn(process.execPath, ["-e", ""]);
    await once(child, "exit");
    for (const holder of [
      { pid: child.pid, started },
      { pid: process.ppid, started: "another boot:1" },
      { pid: "nonsense" },
    ]) {
      writeFileSync(lock, JSON.stringify(holder));
      session.reopen().record.close();
    }
    writeFileSync(lock, "half a lo");
    session.reopen().record.close();
  });

  test("a directory that others may write is not used", async () => {
    const session = await kept([ASKED]);
    chmodSync(join(session.directory, ".."), 0o777);
    await expect(session.store.create(session.store.newId(), META, () => undefined)).rejects.toThrow(
      /chmod 700/,
    );
  });
});
