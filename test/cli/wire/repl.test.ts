import { Readable } from "node:stream";
import { afterEach, beforeEach, expect, test } from "vitest";
import { feedFrom } from "../../../src/cli/wire/main.ts";
import { formatFrameLine, Repl } from "../../../src/cli/wire/repl.ts";
import { noticeOf, pending, resolved, responded } from "../../client/request-rows.ts";
import { delta, openAnything, type Responder, result, ScriptedServer } from "../../client/scripted-server.ts";

let server: ScriptedServer;
let printed: string[];
let repl: Repl;

const demo: Responder = (frame) => {
  if (frame["type"] === "blemeesd.ping") return [{ type: "blemeesd.pong", id: frame["id"] }];
  if (frame["type"] === "agent.user") return [delta("s1", 1), result("s1", 2)];
  return openAnything(frame);
};

beforeEach(async () => {
  server = await ScriptedServer.start(demo);
  printed = [];
  repl = new Repl({
    socket: server.path,
    client: "blemeesctl/t",
    print: (line) => printed.push(line),
    isScript: true,
  });
});
afterEach(async () => {
  await repl.disconnect();
  await server.close();
});

async function pipe(text: string): Promise<string> {
  await feedFrom(Readable.from([Buffer.from(text)]), repl);
  return printed.join("\n");
}

test("connecting prints the address, the hello that was sent and the answer", async () => {
  await repl.connect();
  expect(printed[0]).toBe(`· connected: ${server.path}`);
  expect(printed[1]).toBe(
    '→ {"type":"blemeesd.hello","client":"blemeesctl/t","protocol":"blemees/2","features":["requests"]}',
  );
  expect(printed[2]).toMatch(/^← \d\d:\d\d:\d\d\.\d{3} blemeesd\.hello_ack {2}\{/);
});

test("piped lines are executed in order, and the end waits for the answer of the turn", async () => {
  await repl.connect();
  const text = await pipe("# a script\n\nopen s1 backend=demo\nsend s1 hi");
  expect(text).toMatch(/blemeesd\.opened.*\n.*agent\.delta seq=1 {2}\{.*\n.*agent\.result seq=2 /);
});

test("a script gives up on a daemon that does not answer, and reports it", async () => {
  server.responder = () => [];
  const hasty = new Repl({
    socket: server.path,
    client: "blemeesctl/t",
    print: (line) => printed.push(line),
    isScript: true,
    silenceMs: 20,
  });
  await hasty.connect();
  await hasty.runScript(() =>
    feedFrom(Readable.from([Buffer.from("open s1 backend=demo\nstatus\n")]), hasty),
  );
  expect(hasty.hasFailed).toBe(true);
  expect(printed.at(-1)).toBe("· no answer from the daemon for 0.04 s; it may need a restart");
  await hasty.disconnect();
});

test("a quiet turn is waited for as long as the daemon answers, and the ping is not shown", async () => {
  let pings = 0;
  server.responder = (frame) => {
    if (frame["type"] === "agent.user") return [];
    if (frame["type"] !== "blemeesd.ping") return openAnything(frame);
    pings += 1;
    return [{ type: "blemeesd.pong", id: frame["id"] }, ...(pings === 5 ? [result("s1", 2)] : [])];
  };
  const patient = new Repl({
    socket: server.path,
    client: "blemeesctl/t",
    print: (line) => printed.push(line),
    isScript: true,
    silenceMs: 100,
  });
  await patient.connect();
  await patient.runScript(() =>
    feedFrom(Readable.from([Buffer.from("open s1 backend=demo\nsend s1 hi\n")]), patient),
  );
  expect(patient.hasFailed).toBe(false);
  expect(printed.at(-1)).toContain("agent.result");
  expect(printed.join("\n")).not.toContain("pong");
  await patient.disconnect();
});

test("in a script a close waits for the answer before it, an interrupt does not", async () => {
  server.responder = openAnything;
  await repl.connect();
  const peer = await server.accept();
  const done = pipe("open s1 backend=demo\nsend s1 hi\ninterrupt s1\nclose s1\n");
  expect([(await peer.next())["type"], (await peer.next())["type"]]).toEqual([
    "agent.user",
    "blemeesd.interrupt",
  ]);
  peer.send(
    { type: "blemeesd.interrupted", session_id: "s1", was_idle: false },
    result("s1", 1, "interrupted"),
  );
  expect(await done).toMatch(/agent\.result seq=1.*blemeesd\.closed/s);
});

/** A daemon whose agent asks in each turn, and continues when it is answered. */
const asking: Responder = (frame) => {
  const { type, id } = frame;
  if (type === "agent.user") return [noticeOf(pending(), 1)];
  if (type === "blemeesd.list_requests") return [{ type: "blemeesd.requests", id, requests: [pending()] }];
  if (type === "blemeesd.respond") {
    said.push(frame);
    return [noticeOf(resolved(pending()), 2), responded(frame, resolved(pending())), result("s1", 3)];
  }
  return demo(frame);
};
let said: object[];

test("a request is shown completely, and a script answers it when it comes", async () => {
  said = [];
  server.responder = asking;
  await repl.connect();
  const text = await pipe("open s1 backend=demo\nsend s1 hi\naccept\n");
  expect(text).toMatch(
    /request_pending.*\n\? demo asks to run a command:\n.*mkdir -p build.*Choices:.*agent\.result/s,
  );
  const answer = { decision: "accept" };
  expect(said).toMatchObject([
    { session_id: "s1", request_id: "req_a1", answer, shown_hash: "hash-a1", source: "blemeesctl" },
  ]);
});

test("at a terminal the answer is the user's; a message sent meanwhile answers nothing", async () => {
  said = [];
  server.responder = asking;
  const person = new Repl({
    socket: server.path,
    client: "t",
    print: (line) => printed.push(line),
    isScript: false,
  });
  await person.connect();
  await person.execute("requests");
  await person.waitUntilSettled();
  expect(person.requests).toEqual(["req_a1"]);
  await person.execute("send s1 accept");
  await person.execute("accept everything");
  printed.length = 0;
  await person.execute("accept");
  expect(said).toEqual([]);
  expect(printed.join("\n")).toMatch(/^\? demo asks .*name the request: accept req_a1$/s);
  await person.execute("decline req_a no");
  await person.waitUntilSettled();
  expect(said).toMatchObject([{ answer: { decision: "decline", message: "no" }, source: "blemeesctl" }]);
  expect(person.requests).toEqual([]);
  await person.disconnect();
});

test("at a terminal frames are shown after a bar while a request is pending", async () => {
  server.responder = (frame) =>
    frame["type"] === "agent.user"
      ? [noticeOf(pending(), 1), delta("s1", 2, `${" ".repeat(70)}? demo asks`), result("s1", 3)]
      : demo(frame);
  const print = (line: string): void => void printed.push(line);
  const person = new Repl({ socket: server.path, client: "t", print, columns: 60, isScript: false });
  await person.connect();
  await person.execute("open s1 backend=demo");
  await person.execute("send s1 hi");
  await person.waitUntilSettled();
  const rows = printed.slice(-2).join("\n").split("\n");
  expect(rows.length).toBeGreaterThan(3);
  for (const row of rows) expect(row).toMatch(/^ {2}[│┆] .{1,55}$/u);
  await person.disconnect();
});

test("a request that a list shortened must be shown completely before it is approved", async () => {
  said = [];
  const { title, choices } = pending().payload;
  server.responder = (frame) => {
    const { type, id, request_id } = frame;
    if (type !== "blemeesd.list_requests") return asking(frame);
    const cut = { ...pending({ payload: { title, choices } }), is_cut: true };
    return [
      { type: "blemeesd.requests", id, requests: [request_id === undefined ? cut : pending()], next: "7" },
    ];
  };
  await repl.connect();
  const text = await pipe("requests\naccept req_a1\nrequests req_a1\naccept req_a1\n");
  expect(text).toMatch(
    /more: requests --after 7.*shown truncated; see it first: requests req_a1.*│ mkdir -p build/s,
  );
  expect(said).toHaveLength(1);
});

test("an answer without a request is reported", async () => {
  await repl.connect();
  expect(await pipe("accept\n")).toContain("no pending requests");
});

test("open new prints the id it created", async () => {
  await repl.connect();
  expect(await pipe("open new backend=demo\n")).toMatch(/· session_id: [0-9a-f-]{36}\n.*blemeesd\.opened/);
  expect(repl.sessions).toHaveLength(1);
});

test("quiet hides deltas", async () => {
  await repl.connect();
  const text = await pipe("quiet on\nopen s1 backend=demo\nsend s1 hi\n");
  expect(text).not.toContain("agent.delta");
  expect(text).toContain("agent.result");
});

test("pretty prints a frame on several lines", async () => {
  await repl.connect();
  expect(await pipe("pretty on\nping\n")).toContain('{\n  "type": "blemeesd.pong"');
});

test("quit exits before the lines after it", async () => {
  await repl.connect();
  expect(await pipe("quit\nping\n")).not.toContain("pong");
});

test.each([
  ["nonsense", "unknown command: nonsense"],
  ["raw {x", "invalid JSON"],
  ["open s1 x", "expected key=value, got x"],
  ["quiet maybe", "usage: quiet on|off"],
  ["help", "Commands"],
  ["help open", "usage: open ID|new"],
])("without a connection, %s prints %s", async (line, text) => {
  expect(await pipe(`${line}\n`)).toContain(text);
});

test("a verb that needs the daemon reports that there is no connection", async () => {
  expect(await pipe("ping\n")).toBe("not connected; use connect [PATH]");
});

test("a socket without a listener is reported, and the prompt continues", async () => {
  expect(await repl.connect(`${server.path}.none`)).toBe(false);
  expect(await pipe("help\n")).toMatch(/no daemon at .*\n.*Commands/s);
});

test("a daemon that disconnects ends the wait", async () => {
  server.responder = openAnything;
  await repl.connect();
  const peer = await server.accept();
  const done = pipe("open s1 backend=demo\nsend s1 hi\n");
  await peer.next();
  peer.drop();
  expect(await done).toContain("· disconnected: the daemon");
});

test("U+2028 inside JSON does not end a line", async () => {
  server.responder = () => undefined;
  await repl.connect();
  const done = pipe('raw {"type":"x","text":"a\u2028b"}\n');
  expect(await (await server.accept()).next()).toEqual({ type: "x", text: "a\u2028b" });
  await done;
});

test("a frame's line cannot drive the terminal", () => {
  const line = formatFrameLine(
    { type: "agent.delta\x1b[2J", seq: 3, text: "\u009b\u202e" },
    false,
    new Date(0),
  );
  expect(line).toMatch(/agent\.delta\\x1b\[2J seq=3 {2}\{.*\\u009b\\u202e"\}$/);
});
