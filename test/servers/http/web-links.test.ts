// One-time links to the dashboard: which clients get one, which get in with it, and how often.
import { createServer } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { silentLog } from "../../../src/base/log.ts";
import { HTTP_DEFAULTS, Loopback } from "../../../src/servers/http/index.ts";
import type { HttpContext } from "../../../src/servers/http/types.ts";
import { Tickets } from "../../../src/servers/http/web/tickets.ts";
import { type Answer, createWorld, untilClosed, type World } from "./world.ts";

const MINUTE_MS = 60_000;
let world: World;
beforeEach(async () => {
  world = await createWorld();
});
afterEach(() => world.close());

async function newTicket(from = world): Promise<string> {
  const { status, body } = await from.ask("POST", "/web/links", { body: {} });
  expect(status).toBe(201);
  return new URL(body.url).hash.replace("#token=", "");
}

const enter = (ticket: string, headers: Record<string, string> = {}, to = world): Promise<Answer> =>
  to.ask("POST", "/web/enter", {
    tcp: true,
    headers: { authorization: `Bearer ${ticket}`, "content-type": "application/json", ...headers },
    body: {},
  });

describe("a link", () => {
  test("has its word in the fragment, names our port, and ends in ten minutes", async () => {
    const { body } = await world.ask("POST", "/web/links", { body: {} });
    expect(body).toEqual({
      url: expect.stringMatching(new RegExp(`^http://127\\.0\\.0\\.1:${world.http.port}/#token=[\\w-]{43}$`)),
      port: world.http.port,
      expires_at_ms: world.clock.nowMs + 10 * MINUTE_MS,
    });
  });

  test("is given on the Unix socket, and on loopback only for the token", async () => {
    const none = { "content-type": "application/json" };
    const ask = (headers: Record<string, string>) =>
      world.ask("POST", "/web/links", { tcp: true, headers: { ...none, ...headers }, body: {} });
    expect((await ask({})).status).toBe(401);
    const ticket = await newTicket();
    expect((await ask({ authorization: `Bearer ${ticket}` })).status, "a word is no token").toBe(401);
    expect((await ask({ authorization: `Bearer ${world.http.token}` })).status).toBe(201);
    expect((await enter(ticket)).status, "and was not used up by that").toBe(200);
  });

  test("each has its own code", async () => {
    const tickets = [await newTicket(), await newTicket()];
    expect(new Set(tickets).size).toBe(2);
    for (const ticket of tickets) expect((await enter(ticket)).status).toBe(200);
  });
});

describe("getting in", () => {
  test("gives the token that opens the API, once", async () => {
    const ticket = await newTicket();
    const { status, body } = await enter(ticket);
    expect([status, body]).toEqual([200, { token: world.http.token }]);
    const again = await enter(ticket);
    expect([again.status, again.body.error.code]).toEqual([401, "unauthorized"]);
    expect(again.body.error.message).toMatch(/already used.*`blemees web`/);
    expect(again.text).not.toContain(world.http.token);
  });

  test("two at once: one gets in", async () => {
    const ticket = await newTicket();
    const replies = await Promise.all(Array.from({ length: 8 }, () => enter(ticket)));
    expect(replies.map(({ status }) => status).sort()).toEqual([200, ...Array(7).fill(401)]);
  });

  test("ends with the ten minutes, not before", async () => {
    const [early, late] = [await newTicket(), await newTicket()];
    world.clock.nowMs += 10 * MINUTE_MS - 1;
    expect((await enter(early)).status).toBe(200);
    world.clock.nowMs += 1;
    expect((await enter(late)).status).toBe(401);
  });

  test("a word of another daemon, one that was never given, and the token itself are nothing here", async () => {
    const other = await createWorld();
    const foreign = await newTicket(other);
    for (const word of [foreign, "x".repeat(43), "x", world.http.token])
      expect((await enter(word)).status).toBe(401);
    expect((await enter(foreign, {}, other)).status, "control: at home it is").toBe(200);
    await other.close();
  });

  test("a word opens no other route, and no header but the bearer counts", async () => {
    const ticket = await newTicket();
    const bearer = { authorization: `Bearer ${ticket}` };
    for (const path of ["/health", "/sessions", "/stats", "/web/enter"])
      expect((await world.ask("GET", path, { tcp: true, headers: bearer })).status, path).toBe(401);
    const type = { "content-type": "application/json" };
    const ask = (path: string, headers: Record<string, string>, body: object = {}) =>
      world.ask("POST", path, { tcp: true, headers: { ...type, ...headers }, body });
    expect((await ask("/web/enter", {})).status).toBe(401);
    expect((await ask("/web/enter", { cookie: `token=${ticket}` })).status).toBe(401);
    expect((await ask("/web/enter", { authorization: `Basic ${ticket}` })).status).toBe(401);
    expect((await ask(`/web/enter?token=${ticket}`, {})).status).toBe(400);
    expect((await ask("/web/enter", {}, { token: ticket })).status).toBe(400);
    expect((await enter(ticket)).status, "control").toBe(200);
  });
});

describe("other sites cannot use a link", () => {
  test.each([
    ["rebinding", { host: "evil.example" }, 403],
    ["a foreign Origin", { origin: "http://evil.example" }, 403],
    ["Origin null", { origin: "null" }, 403],
    ["another site", { "sec-fetch-site": "cross-site" }, 403],
    ["another port", { "sec-fetch-site": "same-site" }, 403],
    [
      "a visit",
      { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" },
      403,
    ],
    ["a form", { "content-type": "application/x-www-form-urlencoded" }, 415],
    ["plain text", { "content-type": "text/plain" }, 415],
  ])("%s is refused for both routes and uses nothing up", async (_name, headers, status) => {
    const ticket = await newTicket();
    expect((await enter(ticket, headers)).status).toBe(status);
    const bearer = { authorization: `Bearer ${world.http.token}`, "content-type": "application/json" };
    const link = { tcp: true, headers: { ...bearer, ...headers }, body: {} };
    expect((await world.ask("POST", "/web/links", link)).status).toBe(status);
    const own = { origin: `http://127.0.0.1:${world.http.port}`, "sec-fetch-site": "same-origin" };
    expect((await enter(ticket, own)).status, "control: our own page").toBe(200);
  });

  test("two codes are refused as ambiguous", async () => {
    const ticket = await newTicket();
    const socket = await world.raw(true);
    const line = `Authorization: Bearer ${ticket}\r\n`;
    const host = `Host: 127.0.0.1:${world.http.port}\r\nConnection: close\r\nContent-Type: application/json\r\n`;
    socket.write(`POST /web/enter HTTP/1.1\r\n${host}${line}${line}Content-Length: 2\r\n\r\n{}`);
    expect(await untilClosed(socket)).toMatch(/^HTTP\/1\.1 403/);
    expect((await enter(ticket)).status).toBe(200);
  });
});

describe("bounds", () => {
  test("past sixteen links the oldest no longer works", async () => {
    const tickets: string[] = [];
    for (let n = 0; n < 17; n += 1) tickets.push(await newTicket());
    expect((await enter(tickets[0] ?? "")).status).toBe(401);
    expect((await enter(tickets[1] ?? "")).status).toBe(200);
    expect((await enter(tickets[16] ?? "")).status).toBe(200);
  });

  test("a client that guesses codes gets 429 after twenty, for a minute; a right one still gets in", async () => {
    const ticket = await newTicket();
    const tries = async (count: number) => {
      const statuses: number[] = [];
      for (let n = 0; n < count; n += 1) statuses.push((await enter(`wrong-${n}`)).status);
      return statuses;
    };
    expect(await tries(21)).toEqual([...Array(20).fill(401), 429]);
    const told = world.logged.filter(({ event }) => event === "web.enter_refused");
    expect(told.length, "the log is not flooded").toBe(20);
    expect((await enter(ticket)).status).toBe(200);
    world.clock.nowMs += MINUTE_MS;
    expect(await tries(1)).toEqual([401]);
  });

  test("an unauthenticated client cannot make the daemon hold a large body", async () => {
    const long = `{${" ".repeat(2_000)}}`;
    const post = (path: string, authorization: string) =>
      world.ask("POST", path, {
        tcp: true,
        headers: { authorization, "content-type": "application/json" },
        body: long,
      });
    const ticket = await newTicket();
    const refused = await post("/web/enter", `Bearer ${ticket}`);
    expect([refused.status, refused.body.error.code]).toEqual([413, "oversize_message"]);
    expect((await post("/web/links", `Bearer ${world.http.token}`)).status, "control").toBe(201);
    expect((await enter(ticket)).status, "and it was not used up").toBe(200);
  });

  test("used and old codes leave nothing", () => {
    let nowMs = 0;
    const tickets = new Tickets(() => nowMs);
    const old = Array.from({ length: 15 }, () => tickets.issue().ticket);
    nowMs = 10 * MINUTE_MS;
    const fresh = Array.from({ length: 16 }, () => tickets.issue().ticket);
    expect(old.map((ticket) => tickets.redeem(ticket))).toEqual(Array(15).fill(false));
    expect(fresh.map((ticket) => tickets.redeem(ticket))).toEqual(Array(16).fill(true));
    expect(fresh.map((ticket) => tickets.redeem(ticket))).toEqual(Array(16).fill(false));
  });
});

test("by an ssh to the socket a link works under any port, and its token is checked there too", async () => {
  const ticket = await newTicket();
  const own = { host: "127.0.0.1:8000", origin: "http://127.0.0.1:8000", "sec-fetch-site": "same-origin" };
  const type = { "content-type": "application/json" };
  const entered = await world.ask("POST", "/web/enter", {
    headers: { ...own, ...type, authorization: `Bearer ${ticket}` },
    body: {},
  });
  expect([entered.status, entered.body]).toEqual([200, { token: world.http.token }]);
  const health = (token: string) =>
    world.ask("GET", "/health", { headers: { ...own, authorization: `Bearer ${token}` } });
  expect((await health(world.http.token)).status).toBe(200);
  expect((await health(ticket)).status).toBe(401);
  // To the port only its own number leads.
  expect((await enter(await newTicket(), own)).status).toBe(403);
});

test("neither a word nor the token is ever logged, whether it was good or not", async () => {
  const ticket = await newTicket();
  await enter(ticket);
  await enter(ticket);
  await enter("wrong-word-wrong-word");
  await enter(ticket, { host: "evil.example" });
  expect(world.logged.map(({ event }) => event)).toEqual(
    expect.arrayContaining(["web.link", "web.enter", "web.enter_refused", "http.refused"]),
  );
  const text = JSON.stringify(world.logged);
  for (const secret of [ticket, world.http.token, "wrong-word", "#token="])
    expect(text).not.toContain(secret);
});

describe("the port", () => {
  const context = { log: silentLog, manager: { onChange: () => () => undefined } } as unknown as HttpContext;
  function newLoopback(port?: number): Loopback {
    const webDirectory = join(world.home, "web");
    const tokenFile = join(world.home, "http-token");
    const limits = { ...HTTP_DEFAULTS, maxBodyBytes: 1000, outboxBytes: 1000, slowConsumerMs: 1000 };
    return new Loopback(context, {
      limits: { ...limits, maxConnections: 10, tokenFile },
      port,
      webDirectory,
    });
  }

  test("is opened by the first link, once for many at the same time, and closed with the daemon", async () => {
    const loopback = newLoopback(0);
    const links = await Promise.all([loopback.link(), loopback.link(), loopback.link(0)]);
    expect(new Set(links.map(({ port }) => port)).size).toBe(1);
    const [first] = links;
    expect((await fetch(`http://127.0.0.1:${first?.port}/`)).status).toBe(200);
    await loopback.close();
    await expect(fetch(`http://127.0.0.1:${first?.port}/`)).rejects.toThrow();
    await expect(loopback.link()).rejects.toMatchObject({ code: "daemon_shutdown" });
  });

  test("that of the link wins over that of the settings, but one that is open stays", async () => {
    const free = createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => free.once("listening", resolve));
    const { port } = free.address() as { port: number };
    const loopback = newLoopback(0);
    await expect(loopback.link(port)).rejects.toMatchObject({
      message: expect.stringMatching(new RegExp(`port ${port} on 127\\.0\\.0\\.1 is in use.* sm web --port`)),
    });
    await new Promise((resolve) => free.close(resolve));
    expect((await loopback.link(port)).port, "tried again").toBe(port);
    expect((await loopback.link(0)).port).toBe(port);
    await loopback.close();
  });

  test("without one it is 7433, or any free one when that is in use", async () => {
    const first = newLoopback();
    const second = newLoopback();
    const ports = [(await first.link()).port, (await second.link()).port];
    // Another process on this machine may have taken it first.
    expect(ports[1]).not.toBe(ports[0]);
    await Promise.all([first.close(), second.close()]);
  });
});
