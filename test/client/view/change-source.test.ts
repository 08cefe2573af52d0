// The list of changes and the lines of opened files, against replies in any order.
import { describe, expect, test } from "vitest";
import { type ChangesPort, ChangesSource } from "../../../src/client/view/change-source.ts";
import type { ChangesReply, FileChangesReply } from "../../../src/protocol/changes.ts";
import { aFile, aFileReply, aHunk, aReply } from "./changed-files.ts";

/** A port whose replies are given by hand. */
class HeldPort implements ChangesPort {
  undo(): Promise<never> {
    throw new Error("not asked for");
  }

  readonly asked: { query: unknown; reply(value: unknown): void; fail(error: Error): void }[] = [];
  list = (query: unknown): Promise<ChangesReply> => this.#hold(query) as Promise<ChangesReply>;
  file = (query: unknown): Promise<FileChangesReply> => this.#hold(query) as Promise<FileChangesReply>;

  #hold(query: unknown): Promise<unknown> {
    return new Promise((resolve, reject) => this.asked.push({ query, reply: resolve, fail: reject }));
  }
}

const soon = () => new Promise((resolve) => setImmediate(resolve));
const LINES = aFileReply([aHunk(["-a", "+b"])]);

async function openSource(reply: ChangesReply = aReply([aFile("a"), aFile("b")])) {
  const port = new HeldPort();
  let changes = 0;
  const source = new ChangesSource(port, () => {
    changes += 1;
  });
  const answer = async (value: unknown) => {
    port.asked.shift()?.reply(value);
    await soon();
  };
  void source.refresh();
  await answer(reply);
  return { port, source, answer, countChanges: () => changes };
}

describe("the list", () => {
  test("is read page by page", async () => {
    const { source, port, answer } = await openSource(aReply([aFile("a")], { next: "a" }));
    void source.readMore();
    expect(port.asked[0]?.query).toEqual({ limit: 100, after: "a" });
    await answer(aReply([aFile("b")]));
    expect(source.state.files.map(({ path }) => path)).toEqual(["a", "b"]);
    await source.readMore();
    expect(port.asked).toEqual([]);
  });

  test("of another turn replaces it, and the late reply of the first is ignored", async () => {
    const { source, port, answer } = await openSource();
    void source.refresh();
    void source.selectTurn(2);
    expect(source.state).toMatchObject({ turn: 2, files: [], isLoading: true });
    const [late] = port.asked.splice(0, 1);
    await answer(aReply([aFile("c")]));
    late?.reply(aReply([aFile("d")]));
    await soon();
    expect(source.state.files.map(({ path }) => path)).toEqual(["c"]);
    expect(source.state.isLoading).toBe(false);
  });

  test("a failure is shown, and the next read clears it", async () => {
    const { source, port, answer } = await openSource();
    void source.refresh();
    port.asked.shift()?.fail(new Error("git failed"));
    await soon();
    expect(source.state).toMatchObject({ problem: "git failed", isLoading: false });
    expect(source.state.files).toHaveLength(2);
    void source.refresh();
    await answer(aReply([]));
    expect(source.state.problem).toBeUndefined();
  });

  test("after a turn it is read until the turn's checkpoint is there", async () => {
    const { source, port, answer } = await openSource();
    const { ended_at_ms: _, ...open } = aReply([]).turns[0] ?? {
      turn: 1,
      turn_id: "",
      started_at_ms: 1,
      files: 0,
      additions: 0,
      deletions: 0,
    };
    const done = source.refreshAfterTurn();
    await answer(aReply([], { turns: [open] }));
    await expect.poll(() => port.asked.length, { timeout: 10_000 }).toBe(1);
    await answer(aReply([aFile("a")]));
    await done;
    expect(source.state.files).toHaveLength(1);
  });
});

describe("a file", () => {
  test("is read when it is opened, once", async () => {
    const { source, port, answer } = await openSource();
    void source.openFile(aFile("a", { path_b64: "YQ==" }));
    expect(port.asked[0]?.query).toEqual({ path: "a", path_b64: "YQ==" });
    expect(source.state.opened.get("YQ==")).toEqual({ isLoading: true });
    await answer(LINES);
    expect(source.state.opened.get("YQ==")).toEqual({ isLoading: false, reply: LINES });
    await source.openFile(aFile("a", { path_b64: "YQ==" }));
    expect(port.asked).toEqual([]);
  });

  test("that was closed meanwhile stays closed", async () => {
    const { source, answer } = await openSource();
    void source.openFile(aFile("a"));
    source.closeFile(aFile("a"));
    await answer(LINES);
    expect(source.state.opened.size).toBe(0);
  });

  test("is read again only if it differs, and keeps its lines until then", async () => {
    const { source, port, answer } = await openSource();
    for (const path of ["a", "b"]) {
      void source.openFile(aFile(path));
      await answer(LINES);
    }
    void source.refresh();
    await answer(aReply([aFile("a", { additions: 7 }), aFile("b")]));
    expect(port.asked.map(({ query }) => query)).toEqual([{ path: "a" }]);
    expect(source.state.opened.get("a")).toEqual({ isLoading: true, reply: LINES });
    await answer(aFileReply([]));
    expect(source.state.opened.get("a")?.reply?.hunks).toEqual([]);
  });

  test("that is no longer changed is closed", async () => {
    const { source, answer } = await openSource();
    void source.openFile(aFile("a"));
    await answer(LINES);
    void source.refresh();
    await answer(aReply([aFile("b")]));
    expect([...source.state.opened.keys()]).toEqual([]);
  });

  test("with an error says so", async () => {
    const { source, port } = await openSource();
    void source.openFile(aFile("a"));
    port.asked.shift()?.fail(new Error("gone"));
    await soon();
    expect(source.state.opened.get("a")).toEqual({ isLoading: false, problem: "gone" });
  });
});

test("nothing is reported after close", async () => {
  const { source, answer, countChanges } = await openSource();
  void source.refresh();
  const before = countChanges();
  source.close();
  await answer(aReply([]));
  expect(countChanges()).toBe(before);
});
