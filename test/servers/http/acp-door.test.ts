// ACP on a WebSocket, at a real daemon: an editor on the loopback port, and clients that are refused.
import { readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { createWebSocketStream } from "@agentclientprotocol/sdk/experimental/ws-client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { WebSocket } from "ws";
import { HttpClient } from "../../../src/client/index.ts";
import { Editor } from "../../cli/acp/editor.ts";
import { launchDaemon, type TestDaemon } from "../../support/daemon.ts";

// lane: process
let daemon: TestDaemon;
let port: number;
let token: string;

beforeAll(async () => {
  const launched = launchDaemon({ args: ["--http", "0"] });
  daemon = launched.daemon;
  await launched.logged('"http.listen"');
  const line =
    daemon
      .log()
      .split("\n")
      .find((one) => one.includes('"http.listen"')) ?? "";
  const listening = JSON.parse(line);
  port = listening.port;
  token = readFileSync(listening.token_file, "utf8").trim();
});
afterAll(() => daemon.close());

const authorized = () => ({ authorization: `Bearer ${token}` });

function refused(path: string, headers: Record<string, string>): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const web = new WebSocket(`ws://127.0.0.1:${port}${path}`, { headers });
    web.on("open", () => reject(new Error("it was accepted")));
    web.on("error", () => undefined);
    web.on("unexpected-response", (_request, response) => {
      let text = "";
      response.on("data", (chunk) => {
        text += chunk;
      });
      response.on("end", () => resolve({ status: response.statusCode ?? 0, text }));
    });
  });
}

test("an editor works on a session, and a second one sees it", async () => {
  const open = () => {
    const url = `ws://127.0.0.1:${port}/acp?agent=demo`;
    const stream = createWebSocketStream(url, { WebSocket: WebSocket as never, headers: authorized() });
    return new Editor({ stream });
  };
  const [one, two] = [open(), open()];
  for (const editor of [one, two])
    expect(await editor.initialize()).toMatchObject({ protocolVersion: 1, agentInfo: { name: "blemees" } });
  const id = await one.create(tmpdir());
  // A line break in a message is space, also on the way to the program.
  expect(await one.prompt(id, "hello\nthere")).toEqual({ stopReason: "end_turn" });
  await two.load(id, tmpdir());
  expect(two.text(id, "user_message_chunk")).toBe("hello\nthere");
  expect(two.text(id)).toBe(one.text(id));
  for (const editor of [one, two]) {
    editor.expectValid();
    await editor.close();
  }
  expect(await new HttpClient({ socket: daemon.socket }).session(id)).toMatchObject({ turns: 1 });
});

test("the guard of the API holds: token, Host, Origin; other paths and bad parameters are refused", async () => {
  expect(await refused("/acp", {})).toMatchObject({ status: 401 });
  expect(await refused("/acp", { authorization: "Bearer wrong" })).toMatchObject({ status: 401 });
  const page = { ...authorized(), origin: "http://evil.example" };
  expect(await refused("/acp", page)).toMatchObject({ status: 403 });
  expect(await refused("/acp", { ...authorized(), host: "evil.example" })).toMatchObject({ status: 403 });
  expect(await refused("/sessions", authorized())).toMatchObject({ status: 404 });
  const typo = await refused("/acp?agnet=demo", authorized());
  expect(typo).toMatchObject({ status: 400, text: expect.stringContaining("agnet") });
});

test("a binary frame ends the connection with the reason", async () => {
  const web = new WebSocket(`ws://127.0.0.1:${port}/acp`, { headers: authorized() });
  web.on("open", () => web.send(Buffer.from("{}")));
  const closed = await new Promise((resolve) => {
    web.on("close", (code, reason) => resolve([code, reason.toString()]));
  });
  expect(closed).toEqual([1003, "messages must be text"]);
});
