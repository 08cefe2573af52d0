// `blemeesd --takeover` as a program: the new daemon replaces the old one on the same socket.
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, expect, test } from "vitest";
import { HttpClient } from "../../src/client/index.ts";
import { startDaemon, type TestDaemon } from "../support/daemon.ts";
import { PATIENT } from "../support/patience.ts";
import { newHome, removeHomes, run } from "./program.ts";

const daemons: TestDaemon[] = [];
afterEach(async () => {
  for (const daemon of daemons.splice(0)) await daemon.close();
});
afterAll(removeHomes);

async function start(
  args: string[],
  home = mkdtempSync(join(tmpdir(), "blemees-over-")),
): Promise<TestDaemon> {
  const daemon = await startDaemon({ home, args });
  daemons.push(daemon);
  return daemon;
}

const http = (daemon: TestDaemon): HttpClient => new HttpClient({ socket: daemon.socket });

/** Until this daemon answers on its socket. */
async function untilAnswers(daemon: TestDaemon): Promise<void> {
  const pid = async (): Promise<number | undefined> =>
    (
      await http(daemon)
        .health()
        .catch(() => undefined)
    )?.pid;
  await expect.poll(pid, PATIENT).toBe(daemon.pid);
}

test("without a running daemon it is a normal start", async () => {
  const daemon = await start(["--takeover"]);
  expect(await http(daemon).health()).toMatchObject({ ok: true, pid: daemon.pid });
  expect(daemon.log()).not.toContain("daemon.took_over");
});

test("the old daemon exits with 0, and the new one answers with the same sessions on the same port", async () => {
  const old = await start([]);
  const {
    session: { session_id },
  } = await http(old).spawn({ backend: "demo", prompt: "hello" });
  await http(old).wait(session_id);
  const { port } = await http(old).webLink({ port: 0 });
  const next = await start(["--takeover"], old.home);
  expect(await old.exited).toEqual({ code: 0, signal: null });
  await untilAnswers(next);
  expect((await http(next).sessions()).map((view) => view.session_id)).toEqual([session_id]);
  await expect.poll(() => next.log(), PATIENT).toContain('"http.listen"');
  expect((await http(next).webLink()).port).toBe(port);
  const took = next
    .log()
    .split("\n")
    .find((line) => line.includes("daemon.took_over"));
  expect(JSON.parse(took ?? "{}")).toMatchObject({ pid: old.pid, http_port: port });
});

test("a chain of takeovers leaves one daemon, and a client that was there reconnects each time", async () => {
  let last = await start([]);
  const client = http(last);
  const {
    session: { session_id },
  } = await client.spawn({ backend: "demo", prompt: "hello" });
  for (let n = 0; n < 3; n += 1) {
    const before = last;
    last = await start(["--takeover"], before.home);
    expect((await before.exited).code).toBe(0);
    await untilAnswers(last);
    expect((await client.session(session_id)).session_id).toBe(session_id);
  }
});

test.each([
  [
    "another state directory",
    ["--state-dir", "/tmp/blemees-elsewhere"],
    1,
    /keeps its sessions in .*, not in/,
  ],
  ["a mistake in its settings", ["--log-level", "loud"], 2, /--log-level/],
  ["a history that it cannot keep", ["--state-dir", "/dev/null/x"], 1, /cannot keep the history/],
])(
  "with %s it fails with one sentence, and the old daemon continues",
  async (_what, args, status, sentence) => {
    const old = await start([]);
    const ended = run(["--takeover", "--socket", old.socket, ...args], newHome());
    expect(ended.status).toBe(status);
    const said = ended.stderr.split("\n").filter((line) => line.startsWith("blemeesd: "));
    expect(said).toEqual([expect.stringMatching(sentence)]);
    expect(await http(old).health()).toMatchObject({ pid: old.pid });
  },
);
