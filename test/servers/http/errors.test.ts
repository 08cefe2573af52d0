// Refusals: every fault is JSON with a code, a status and a sentence, whatever was sent.
import { once } from "node:events";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { unknownSessionError } from "../../../src/sessions/core/refusals.ts";
import { PATIENT } from "../../support/patience.ts";
import { createWorld, untilClosed, type World } from "./world.ts";

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.close());

const head = "Host: localhost\r\nConnection: close\r\n";

async function rawReply(text: string | Buffer): Promise<{ status: number; text: string }> {
  const socket = await world.raw();
  socket.write(text);
  const reply = await untilClosed(socket);
  return { status: Number(/^HTTP\/1\.1 (\d+)/.exec(reply)?.[1]), text: reply };
}

describe("routes", () => {
  test.each([
    ["/session", "/sessions"],
    ["/sessions/a/event", "/sessions/a/events"],
    ["/sessions/a/codex-event", "/sessions/a/codex-events"],
    ["/helth", "/health"],
  ])("%s is not_found and names %s", async (path, meant) => {
    const { status, body } = await world.ask("GET", path);
    expect([status, body.error.code]).toEqual([404, "not_found"]);
    expect(body.error.message).toContain(`did you mean ${meant}?`);
  });

  test.each([
    ["/sessions/", "GET"],
    ["//sessions", "GET"],
    ["/sessions/a/b/c/d/e/f", "POST"],
    [`/${"x".repeat(5000)}`, "GET"],
    ["/%ff%fe", "GET"],
    ["/%", "GET"],
    ["/sessions%00", "GET"],
  ])("%s is not_found too", async (path, method) => {
    const { status, body } = await world.ask(method, path);
    expect([status, body.error.code]).toEqual([404, "not_found"]);
  });

  test.each([
    ["PUT", "/sessions", "POST, GET"],
    ["POST", "/health", "GET"],
    ["OPTIONS", "/sessions/a", "GET, PATCH, DELETE"],
    ["DELETE", "/sessions", "POST, GET"],
  ])("%s %s is 405 with Allow: %s", async (method, path, allow) => {
    const { status, headers, body } = await world.ask(method, path);
    expect([status, headers["allow"], body.error.code]).toEqual([405, allow, "method_not_allowed"]);
  });

  test("a slash too many is named as that", async () => {
    const { body } = await world.ask("GET", "/sessions/");
    expect(body.error.message).toBe("no route /sessions/; did you mean /sessions?");
  });

  test.each(["PUT", "TRACE", "PROPFIND"])("%s without a type is 405, not 415", async (method) => {
    const { status, text } = await rawReply(`${method} /sessions HTTP/1.1\r\n${head}\r\n`);
    expect(status).toBe(405);
    expect(text).toMatch(/\r\nallow: POST, GET\r\n/i);
  });

  test("an unknown session is reported without owners, and with where to look", async () => {
    world.manager.refusal = unknownSessionError("abc");
    const { status, body } = await world.ask("GET", "/sessions/abc");
    expect([status, body.error.code]).toEqual([404, "session_unknown"]);
    expect(body.error.message).toBe("no session abc; GET /sessions (`sm all`) lists all sessions");
  });

  test("HEAD is 405 as well: a stream must not be opened by it", async () => {
    const { status } = await rawReply(`HEAD /events HTTP/1.1\r\n${head}\r\n`);
    expect(status).toBe(405);
  });
});

describe("bodies", () => {
  const post = (body: string | Buffer, path = "/sessions") =>
    Buffer.concat([
      Buffer.from(
        `POST ${path} HTTP/1.1\r\n${head}Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n`,
      ),
      Buffer.from(body),
    ]);

  test.each([
    ["no JSON", "{", /not a JSON value/],
    ["a list", "[]", /"the body must be one JSON object"/],
    ["null", " null", /"the body must be one JSON object"/],
    ["a number out of range", '{"backend":"demo","budget":{"max_cost_usd":1e999}}', /out of range/],
    ["deep nesting", `{"options":${"[".repeat(100)}${"]".repeat(100)}}`, /nested deeper/],
    ["__proto__", '{"backend":"demo","options":{"__proto__":{"a":1}}}', /__proto__/],
    ["a lone surrogate", '{"backend":"demo","prompt":"\\ud800"}', /lone surrogate/],
    ["bytes that are not UTF-8", Buffer.from([0x7b, 0xff, 0x7d]), /not UTF-8/],
  ])("%s: 400 and says so", async (_name, body, fault) => {
    const { status, text } = await rawReply(post(body));
    expect(status).toBe(400);
    expect(text).toMatch(/"code":"invalid_message"/);
    expect(text).toMatch(fault);
  });

  test("one over the limit is 413, announced or not, and the client gets to read that", async () => {
    const large = `{"backend":"demo","prompt":"${"x".repeat(2 * 1024 * 1024)}"}`;
    const announced = await rawReply(post(large));
    expect([announced.status, /oversize_message/.test(announced.text)]).toEqual([413, true]);
    const chunk = `${large.length.toString(16)}\r\n${large}\r\n0\r\n\r\n`;
    const type = "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n";
    const chunked = await rawReply(`POST /sessions HTTP/1.1\r\n${head}${type}\r\n${chunk}`);
    expect(chunked.status).toBe(413);
  });

  test("the reply to an announced one comes before the body is whole, and the rest of the body does not lose it", async () => {
    const large = post(`{"backend":"demo","prompt":"${"x".repeat(2 * 1024 * 1024)}"}`);
    const most = large.length - 1;
    const socket = await world.raw();
    let text = "";
    socket.on("data", (chunk: Buffer) => {
      text += chunk.toString();
    });
    await new Promise((resolve) => socket.write(large.subarray(0, most), resolve));
    await vi.waitFor(() => expect(text).toMatch(/^HTTP\/1\.1 413 .*oversize_message/s), PATIENT);
    socket.on("error", () => undefined);
    socket.write(large.subarray(most));
    await new Promise((resolve) => socket.once("close", resolve));
  });

  test("one under the limit passes", async () => {
    const body = { backend: "demo", prompt: "x".repeat(900 * 1024) };
    expect((await world.ask("POST", "/sessions", { body })).status).toBe(201);
  });
});

describe("what is not HTTP, or too much of it", () => {
  test("a header of 40 KB is 431", async () => {
    const { status, text } = await rawReply(
      `GET /health HTTP/1.1\r\n${head}X: ${"a".repeat(40_000)}\r\n\r\n`,
    );
    expect(status).toBe(431);
    expect(text).toContain('"code":"invalid_message"');
  });

  test.each([
    "GARBAGE\r\n\r\n",
    "GET / HTTP/9.9\r\n\r\n",
    "G\0T / HTTP/1.1\r\n\r\n",
    "GET /\x01 HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "POST /sessions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
  ])("%j is 400, and the connection is closed", async (text) => {
    expect((await rawReply(text)).status).toBe(400);
  });

  test.each([
    ["without a Host header", "GET /health HTTP/1.1\r\nConnection: close\r\n\r\n", 403, "forbidden"],
    [
      "with an Expect that is none",
      `GET /health HTTP/1.1\r\n${head}Expect: x\r\n\r\n`,
      417,
      "invalid_message",
    ],
    ["with that and another Host", "GET / HTTP/1.1\r\nHost: evil\r\nExpect: x\r\n\r\n", 403, "forbidden"],
  ])("a request %s is refused like any other", async (_name, request, wanted, code) => {
    const { status, text } = await rawReply(request);
    expect(status).toBe(wanted);
    expect(text.toLowerCase()).toContain("content-security-policy: default-src 'none'");
    expect(text.toLowerCase()).toContain("content-type: application/json");
    expect(text).toContain(`"code":"${code}"`);
  });

  test("a client that sends Expect is asked to continue only if it may", async () => {
    const asking = (host: string) =>
      `POST /sessions HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: 18\r\nExpect: 100-continue\r\n\r\n`;
    expect((await rawReply(asking("evil"))).text).toMatch(/^HTTP\/1\.1 403 /);
    const socket = await world.raw();
    const reply = untilClosed(socket);
    socket.write(asking("localhost"));
    const [first] = (await once(socket, "data")) as [Buffer];
    expect(first.toString()).toBe("HTTP/1.1 100 Continue\r\n\r\n");
    socket.write('{"backend":"demo"}');
    expect(await reply).toMatch(/\r\n\r\nHTTP\/1\.1 201 /);
  });

  test("a thousand mutated requests: each gets one reply or a closed connection, and the server survives", async () => {
    const good = `GET /sessions/s-1/events?since_seq=1 HTTP/1.1\r\n${head}Accept: */*\r\n\r\n`;
    let random = 42;
    const next = (below: number): number => {
      random = (random * 1_103_515_245 + 12_345) % 2_147_483_648;
      return random % below;
    };
    for (let round = 0; round < 1000; round += 50) {
      const replies = Array.from({ length: 50 }, () => {
        const bytes = Buffer.from(good);
        for (let n = 0; n <= next(4); n += 1) bytes[1 + next(bytes.length - 1)] = next(256);
        return endedReply(bytes);
      });
      for (const reply of await Promise.all(replies)) expect(reply).toMatch(/^(HTTP\/1\.1 [2345]\d\d |$)/);
    }
    expect((await world.ask("GET", "/health")).status).toBe(200);
    expect(world.logged.filter(({ event }) => event === "internal")).toEqual([]);
  });

  async function endedReply(bytes: Buffer): Promise<string> {
    const socket = await world.raw();
    const reply = untilClosed(socket);
    socket.end(bytes);
    return reply;
  }
});

test("an unexpected error is internal: logged with its stack, shown without", async () => {
  world.manager.refusal = new TypeError("secret detail");
  const { status, text } = await world.ask("GET", "/sessions");
  expect(status).toBe(500);
  expect(text).not.toContain("secret detail");
  const [internal] = world.logged.filter(({ event }) => event === "internal");
  expect(JSON.stringify(internal)).toContain("secret detail");
});
