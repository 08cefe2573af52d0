// No file descriptors left: the daemon refuses, survives, and recovers.
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { envOf, launch, PROGRAM } from "../daemon/program.ts";
import { ask, newId, openDemo, range, until } from "../servers/socket/talk.ts";
import { RawClient } from "../support/raw-client.ts";

const HELLO = { type: "blemeesd.hello", protocol: "blemees/2" };

/** Connections that the daemon never accepted may still be in the kernel's queue: until they are gone it refuses. */
async function enter(socket: string): Promise<RawClient> {
  const attempt = async () => {
    const client = await RawClient.connect(socket);
    client.send(HELLO);
    const isIn = await client.next("blemeesd.hello_ack").then(
      () => true,
      () => false,
    );
    return { client, isIn };
  };
  return (await until(attempt, ({ isIn }) => isIn)).client;
}

test.skipIf(process.platform !== "linux")(
  "200 connections to a daemon with 64 descriptors: connected clients are not affected, and it recovers",
  async () => {
    const home = mkdtempSync(join(tmpdir(), "blemees-fds-"));
    const socket = join(home, "s.sock");
    let log = "";
    const command = `ulimit -n 64; exec "${process.execPath}" "${PROGRAM}" --socket "${socket}"`;
    const child = launch("sh", ["-c", command], envOf(home), (text) => {
      log += text;
    });
    const exited = new Promise((resolve) => child.once("exit", resolve));
    try {
      await until(
        async () => log,
        (text) => text.includes("daemon.backends"),
      );
      const first = await RawClient.connect(socket);
      first.send(HELLO);
      await openDemo(first, "s");
      const crowd: RawClient[] = [];
      for (const _ of range(1, 200)) {
        const client = await RawClient.connect(socket).catch(() => undefined);
        client?.send(HELLO);
        if (client !== undefined) crowd.push(client);
      }
      expect((await first.turn("s", "can you hear me"))["subtype"]).toBe("success");
      const refused = await first.open(newId());
      expect(["blemeesd.error", "blemeesd.opened"]).toContain(refused.type);
      for (const client of crowd) client.close();
      await until(
        async () => Number((await ask(first, "status"))["connections"]),
        (count) => count === 1,
      );
      const late = await enter(socket);
      const session_id = newId();
      expect(await late.open(session_id)).toMatchObject({ type: "blemeesd.opened" });
      expect((await late.turn(session_id, "#say recovered"))["subtype"]).toBe("success");
      expect(child.exitCode).toBeNull();
    } finally {
      child.kill("SIGTERM");
      await exited;
      rmSync(home, { recursive: true, force: true });
    }
  },
);

test.skipIf(process.platform !== "linux")(
  "descriptors that run out right after bind: the daemon waits for them, and serves when clients have left",
  async () => {
    const home = mkdtempSync(join(tmpdir(), "blemees-fds-"));
    const socket = join(home, "s.sock");
    let log = "";
    const command = `ulimit -n 48; exec "${process.execPath}" "${PROGRAM}" --socket "${socket}"`;
    const child = launch("sh", ["-c", command], envOf(home), (text) => {
      log += text;
    });
    const exited = new Promise((resolve) => child.once("exit", resolve));
    const crowd: RawClient[] = [];
    try {
      await until(
        async () => existsSync(socket),
        (isThere) => isThere,
      );
      for (const _ of range(1, 100)) {
        const client = await RawClient.connect(socket).catch(() => undefined);
        if (client !== undefined) crowd.push(client);
      }
      // It waits for descriptors, or it was faster than the crowd.
      await until(
        async () =>
          log.includes("store.waits_for_descriptors") || existsSync(join(home, "state/blemees/losses")),
        (isThere) => isThere,
      );
      expect(child.exitCode).toBeNull();
      for (const client of crowd) client.close();
      const late = await enter(socket);
      const session_id = newId();
      expect(await openDemo(late, session_id)).toMatchObject({ type: "blemeesd.opened" });
      late.close();
    } finally {
      for (const client of crowd) client.close();
      child.kill("SIGTERM");
      await exited;
      rmSync(home, { recursive: true, force: true });
    }
  },
);
