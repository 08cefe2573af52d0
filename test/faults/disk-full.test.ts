// A full disk (here: a limit on the size of files, lifted while the daemon runs): frames are sent but not acknowledged,
// the loss is reported, and no frame with a seq is ever missing.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { envOf, launch, PROGRAM } from "../daemon/program.ts";
import { isOf, openDemo, range, say, seqsOf, streamOf, until } from "../servers/socket/talk.ts";
import { startDaemon } from "../support/daemon.ts";
import { RawClient } from "../support/raw-client.ts";
import { checkOutbound } from "../support/schemas.ts";

const canLift = process.platform === "linux" && spawnSync("prlimit", ["--version"]).status === 0;
/** In units of 1024 bytes (dash) or 512 (POSIX); enough for an empty database, not for the flood. */
const LIMIT = 1024;

const DRIVERS = [
  ["sqlite", () => ({})],
  ["jsonl", (home: string) => ({ BLEMEESD_EVENT_LOG_DIR: join(home, "log") })],
] as const;

describe.skipIf(!canLift).each(DRIVERS)("%s", (_driver, driverEnv) => {
  test("frames that cannot be stored are sent without seq; with space again that is reported and seq continues", async () => {
    const home = mkdtempSync(join(tmpdir(), "blemees-full-"));
    const socket = join(home, "s.sock");
    // The limit holds for files of the agent too.
    const pipes = { BLEMEESD_AGENT_STDIO: "pipes" };
    const env = envOf(home, { BLEMEESD_SOCKET: socket, ...pipes, ...driverEnv(home) });
    let log = "";
    // Only the soft limit: raising a hard one needs a privilege that containers often lack.
    const command = `trap '' XFSZ; ulimit -S -f ${LIMIT}; exec "${process.execPath}" "${PROGRAM}"`;
    const child = launch("sh", ["-c", command], env, (text) => {
      log += text;
    });
    const exited = new Promise((resolve) => child.once("exit", resolve));
    try {
      await until(
        async () => log,
        (text) => text.includes("daemon.start"),
      );
      const client = await RawClient.connect(socket);
      client.send({ type: "blemeesd.hello", protocol: "blemees/2" });
      await client.open("11111111-1111-4111-8111-111111111111", { include_partial_messages: true });
      const session_id = "11111111-1111-4111-8111-111111111111";
      say(client, session_id, "#flood 400 8000");
      await client.next(isOf("agent.result", session_id));
      const lost = client.frames.filter((frame) => frame["persisted"] === false);
      expect(lost.length).toBeGreaterThan(0);
      for (const frame of lost) expect(frame).not.toHaveProperty("seq");
      await until(
        async () => log,
        (text) => text.includes("store.append_failed"),
      );

      const { status } = spawnSync("prlimit", ["--pid", String(child.pid), "--fsize=unlimited"]);
      expect(status).toBe(0);
      await client.turn(session_id, "#say stored again");
      // A write that was in progress when space came back may still fail: that loss is reported without another frame.
      const counts = async () => ({
        told: client.frames
          .filter((frame) => frame["category"] === "event_persist_recovered")
          .reduce((sum, notice) => sum + (notice["data"] as { lost: number }).lost, 0),
        lost: client.frames.filter((frame) => frame["persisted"] === false).length,
      });
      await until(counts, ({ told, lost: all }) => told === all);
      expect(seqsOf(client, session_id)).toEqual(range(1, seqsOf(client, session_id).length));
      checkOutbound(client.frames);
      child.kill("SIGKILL");
      await exited;

      const next = await startDaemon({ home, env: driverEnv(home) });
      const reader = await next.connect();
      await openDemo(reader, "other");
      await reader.open(session_id, {}, { resume: true, last_seen_seq: 0 });
      const last = seqsOf(client, session_id).at(-1);
      await reader.next((frame) => frame["seq"] === last);
      expect(streamOf(reader, session_id)).toEqual(streamOf(client, session_id));
      await next.close();
    } finally {
      child.kill("SIGKILL");
      await exited;
      rmSync(home, { recursive: true, force: true });
    }
  });
});
