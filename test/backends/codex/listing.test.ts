import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { SessionSummary } from "../../../src/protocol/session.ts";
import { type Started, user } from "../conformance.ts";
import { fakeCodex, fakeHome, pidsOf } from "./fake.ts";

async function say({ run, sink }: Started, text: string): Promise<void> {
  const { length } = sink.results;
  await run.send(user(text));
  await sink.untilResults(length + 1);
}

function nativeId({ sink }: Started): string {
  const heard = sink.heard.find(({ kind }) => kind === "nativeId");
  return heard?.kind === "nativeId" ? heard.id : "";
}

describe("threads that Codex keeps", () => {
  test("are listed by a running process, with everything that Codex knows", async () => {
    const codex = fakeCodex();
    const session = await codex.start();
    await say(session, "#say hello");
    const rows = (await codex.backend.listTranscripts?.({})) ?? [];
    expect(rows).toEqual([
      {
        session_id: nativeId(session),
        backend: "codex",
        attached: false,
        cwd: codex.home.cwd,
        model: "gpt-5.5",
        preview: "#say hello",
        started_at_ms: expect.any(Number),
        last_active_at_ms: expect.any(Number),
        mtime_ms: expect.any(Number),
        rollout_path: expect.stringContaining(nativeId(session)),
      },
    ]);
    for (const row of rows) expect(SessionSummary.safeParse(row).error).toBeUndefined();
  });

  test("of one cwd only, when it is given", async () => {
    const codex = fakeCodex();
    const other = join(codex.home.home, "other");
    mkdirSync(other);
    const [here, there] = await Promise.all([codex.start(), codex.start({ cwd: other })]);
    await Promise.all([say(here, "#say here"), say(there, "#say there")]);
    const rows = await codex.backend.listTranscripts?.({ cwd: other });
    expect(rows?.map(({ session_id }) => session_id)).toEqual([nativeId(there)]);
    expect(rows?.[0]).not.toHaveProperty("cwd");
  });

  test("come in pages of a hundred", async () => {
    const codex = fakeCodex();
    const store = join(codex.home.home, ".codex", "fake-threads");
    mkdirSync(store);
    const ids = Array.from({ length: 250 }, (_, index) => `thread-${String(index).padStart(4, "0")}`);
    for (const id of ids) {
      const thread = { id, cwd: codex.home.cwd, model: "m", texts: ["hi"], createdAt: 1 };
      writeFileSync(join(store, `${id}.json`), JSON.stringify(thread));
    }
    await codex.start();
    const rows = await codex.backend.listTranscripts?.({});
    expect(rows?.map(({ session_id }) => session_id)).toEqual(ids.reverse());
  });

  test("are found by id; unknown ones and those without a turn are not", async () => {
    const codex = fakeCodex();
    const session = await codex.start();
    await say(session, "#say hello");
    expect(await codex.backend.findTranscript?.(nativeId(session))).toMatchObject({
      session_id: nativeId(session),
      cwd: codex.home.cwd,
    });
    expect(await codex.backend.findTranscript?.("s_unknown")).toBeUndefined();
  });
});

describe("without a process to ask", () => {
  test("none is started: the rollouts on disk are read", async () => {
    const codex = fakeCodex();
    expect(await codex.backend.listTranscripts?.({})).toEqual([]);
    expect(await codex.backend.findTranscript?.("s_unknown")).toBeUndefined();
    expect(() => pidsOf(codex.home)).toThrow("ENOENT");
  });

  test("a process that does not answer is skipped", async () => {
    const codex = fakeCodex({ home: fakeHome({ FAKE_CODEX_FAULT: "list-fails" }) });
    await say(await codex.start(), "#say hello");
    expect(await codex.backend.listTranscripts?.({})).toEqual([]);
  });
});
