// The new daemon's side of `--takeover`, against scripted daemons: what it asks, how long it waits, what it refuses.
import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { takeOver } from "../../src/daemon/takeover.ts";
import { type Answerer, ScriptedHttp } from "../client/scripted-http.ts";
import { PATIENCE_MS } from "../support/patience.ts";

const STATE = "/nowhere/state";
const STATUS = { daemon: "blemeesd/0.0.9", pid: 77, state_dir: STATE, config: { shutdown_grace_s: 0 } };
const STOPPING = { error: { code: "daemon_shutdown", message: "stopping" } };
/** For what never happens. */
const SHORT_MS = 150;

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

async function daemon(answer: Answerer): Promise<ScriptedHttp> {
  const server = await ScriptedHttp.start(answer);
  closers.push(() => server.close().catch(() => undefined));
  return server;
}

function reply(response: ServerResponse, status: number, body: object): undefined {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

/** One that stops when it is asked to. */
async function obedient(status: object = STATUS, stopped: object = { pid: 77, leaving_agents: true }) {
  const server: ScriptedHttp = await daemon(({ path }, response) => {
    if (path === "/status") return status;
    response.once("close", () => void server.kill());
    return reply(response, 202, stopped);
  });
  return server;
}

const over = (path: string, limitMs = PATIENCE_MS, state_dir = STATE) =>
  takeOver({ socket_path: path, state_dir }, limitMs);

function newDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), "takeover-"));
  closers.push(() => rmSync(directory, { recursive: true }));
  return directory;
}

describe("no daemon", () => {
  test("a socket that does not exist", async () => {
    expect(await over(join(newDirectory(), "d.sock"))).toBeUndefined();
  });

  test("a directory that does not exist", async () => {
    expect(await over("/nowhere/at/all/d.sock")).toBeUndefined();
  });

  test("a path that is too long is refused before it is truncated", async () => {
    await expect(over(`/tmp/${"x".repeat(200)}`)).rejects.toThrow(/the socket path has 205 bytes/);
  });
});

describe("a daemon that stops", () => {
  test("is asked to leave its agents, and is gone when this returns", async () => {
    const server = await obedient();
    expect(await over(server.path)).toEqual({ daemon: "blemeesd/0.0.9", pid: 77 });
    expect(server.received.map(({ method, path, body }) => [method, path, body])).toEqual([
      ["GET", "/status", {}],
      ["POST", "/daemon/stop", { leave_agents: true }],
    ]);
    expect(await over(server.path)).toBeUndefined();
  });

  test("may be of a newer version, with fields this one does not know", async () => {
    const stopped = { pid: 77, leaving_agents: true, http_port: 7433, color: "green" };
    const server = await obedient({ ...STATUS, mood: "good" }, stopped);
    expect(await over(server.path)).toEqual({ daemon: "blemeesd/0.0.9", pid: 77, http_port: 7433 });
  });

  test("is waited for if it was already stopping", async () => {
    const server: ScriptedHttp = await daemon((_received, response) => {
      response.once("close", () => void server.kill());
      return reply(response, 503, STOPPING);
    });
    expect(await over(server.path)).toBeUndefined();
  });

  test.each([
    ["is stopping when it is asked to", (response: ServerResponse) => reply(response, 503, STOPPING)],
    ["exits when it is asked to", (response: ServerResponse) => void response.destroy()],
  ])("is waited for if it %s, for another takeover", async (_what, refuse) => {
    const server: ScriptedHttp = await daemon(({ path }, response) => {
      if (path === "/status") return STATUS;
      response.once("close", () => void server.kill());
      return refuse(response);
    });
    expect(await over(server.path)).toBeUndefined();
  });

  test("is not waited for once another daemon has bound the socket", async () => {
    const server = await daemon((_received, response) => reply(response, 503, STOPPING));
    server.onConnection(2, () => void server.kill().then(() => server.listen()));
    expect(await over(server.path)).toBeUndefined();
  });

  test("is also ours if its state directory is given by another path", async () => {
    const directory = newDirectory();
    const link = `${directory}-link`;
    symlinkSync(directory, link);
    closers.push(() => rmSync(link));
    const server = await obedient({ ...STATUS, state_dir: directory });
    expect(await over(server.path, PATIENCE_MS, link)).toMatchObject({ pid: 77 });
  });
});

describe("a daemon that does not stop", () => {
  test("because it is too old is named, with what to do, and is asked nothing else", async () => {
    const { state_dir: _, ...old } = STATUS;
    const server = await daemon(() => old);
    await expect(over(server.path)).rejects.toThrow(
      /blemeesd\/0\.0\.9 \(pid 77\) on .* is too old .*`sm daemon stop` or SIGTERM/,
    );
    expect(server.received).toHaveLength(1);
  });

  test("because it keeps other sessions is left alone", async () => {
    const server = await daemon(() => ({ ...STATUS, state_dir: "/else/where" }));
    await expect(over(server.path)).rejects.toThrow(
      /keeps its sessions in \/else\/where, not in \/nowhere\/state; .* --state-dir \/else\/where/,
    );
    expect(server.received).toHaveLength(1);
  });

  test("because it refuses is reported with its reason", async () => {
    const refusal = { error: { code: "forbidden", message: "not now" } };
    const server = await daemon(({ path }, response) =>
      path === "/status" ? STATUS : reply(response, 403, refusal),
    );
    await expect(over(server.path)).rejects.toThrow(/\(pid 77\) on .* refused to stop: not now; /);
  });

  test("although it agreed is reported after the limit, with the command that ends it", async () => {
    const server = await daemon(({ path }, response) =>
      path === "/status" ? STATUS : reply(response, 202, { pid: 77, leaving_agents: true }),
    );
    await expect(over(server.path, SHORT_MS)).rejects.toThrow(
      /agreed to stop but did not exit within 0\.15 s; .*kill -9 77$/,
    );
  });

  test("because it waits for its turns is reported after the limit", async () => {
    const server = await daemon((_received, response) => reply(response, 503, STOPPING));
    await expect(over(server.path, SHORT_MS)).rejects.toThrow(/already stopping and has not exited/);
  });

  test("because it hangs is reported after the limit", async () => {
    const server = await daemon(() => undefined);
    await expect(over(server.path, SHORT_MS)).rejects.toThrow(
      /the daemon on .* did not answer within 0\.15 s; .* or pass another --socket/,
    );
  });

  test("because it is another program is reported, and gets no second request", async () => {
    const server = await daemon(() => ({ hello: "world" }));
    await expect(over(server.path)).rejects.toThrow(/the program listening on .* is not blemeesd/);
    expect(server.received).toHaveLength(1);
  });

  test("because it speaks no HTTP is reported", async () => {
    const path = join(newDirectory(), "d.sock");
    const server = createServer((socket) => void socket.end("hello\n", () => socket.destroy()));
    await new Promise<void>((resolve) => server.listen(path, resolve));
    closers.push(() => new Promise((resolve) => server.close(resolve)));
    await expect(over(path)).rejects.toThrow(/does not answer like blemeesd \(.*\); end it/);
  });
});
