// The HTTP rows of docs/security.md, each with a control that shows that the same request passes without the attack.
import { chmodSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { ROUTES } from "../../../src/servers/http/routes/index.ts";
import { ensureToken, readToken } from "../../../src/servers/http/token.ts";
import { SESSION } from "./fake-manager.ts";
import { SseReader } from "./sse-reader.ts";
import { type Ask, createWorld, untilClosed, type World } from "./world.ts";

let world: World;
let bearer: { authorization: string };
beforeAll(async () => {
  world = await createWorld();
  bearer = { authorization: `Bearer ${world.http.token}` };
});
afterAll(() => world.close());
beforeEach(() => {
  world.manager.calls.length = 0;
});

const code = async (method: string, path: string, ask: Ask): Promise<[number, string | undefined]> => {
  const { status, body } = await world.ask(method, path, ask);
  return [status, body?.error?.code];
};
// The dashboard's page and the word of a link are let in otherwise: web-files.test.ts, web-links.test.ts.
const paths = ROUTES.filter(({ path }) => path !== "/").map(({ method, path }) => ({
  method: method.toUpperCase(),
  path: path.replace("{id}", SESSION).replace(/\{\w+\}/, "r-1"),
}));

describe("the token", () => {
  test.each(paths)(
    "$method $path on loopback needs it, and does nothing without",
    async ({ method, path }) => {
      expect(await code(method, path, { tcp: true, headers: {} })).toEqual([401, "unauthorized"]);
      const type = { "content-type": "application/json" };
      const wrong = { authorization: `Bearer ${"x".repeat(43)}`, ...type };
      expect(await code(method, path, { tcp: true, headers: wrong })).toEqual([401, "unauthorized"]);
      expect(world.manager.calls).toEqual([]);
      expect(world.stops).toEqual([]);
    },
  );

  test("control: with it the same routes answer", async () => {
    for (const { method, path } of paths.filter(
      ({ path }) => path !== "/events" && !/^\/web\/(r-1|enter)$/.test(path),
    )) {
      const body = method === "GET" || method === "DELETE" ? {} : { body: {} };
      const [status] = await code(method, path, {
        tcp: true,
        headers: { ...bearer, "content-type": "application/json" },
        ...body,
      });
      // The daemon of this test has no log file.
      const answers = path === "/daemon/log" ? [404] : [200, 201, 202, 400];
      expect(answers, `${method} ${path}`).toContain(status);
    }
    expect(world.manager.calls.length).toBeGreaterThan(10);
  });

  test.each(["Basic abc", "Bearer", "Bearer ", "bearer  x y", "", "Bearer \u00e9"])(
    "%j is a wrong one",
    async (authorization) => {
      const [status] = await code("GET", "/health", { tcp: true, headers: { authorization } });
      expect(status).toBe(401);
    },
  );

  test("in the query, in a cookie or twice it does not count", async () => {
    const { token } = world.http;
    expect((await code("GET", `/health?token=${token}`, { tcp: true, headers: {} }))[0]).toBe(401);
    const cookie = { cookie: `token=${token}` };
    expect((await code("GET", "/health", { tcp: true, headers: cookie }))[0]).toBe(401);
    const socket = await world.raw(true);
    const line = `Authorization: Bearer ${token}\r\n`;
    const host = `Host: 127.0.0.1:${world.http.port}\r\nConnection: close\r\n`;
    socket.write(`GET /health HTTP/1.1\r\n${host}${line}${line}\r\n`);
    expect(await untilClosed(socket)).toMatch(/^HTTP\/1\.1 403/);
  });

  test("401 says how, and nothing about the token", async () => {
    const { headers, text } = await world.ask("GET", "/health", { tcp: true, headers: {} });
    expect(headers["www-authenticate"]).toBe("Bearer");
    expect(text).not.toContain(world.http.token.slice(0, 8));
  });

  test("on the Unix socket none is needed, but a wrong one is 401 and the right one passes", async () => {
    const wrong = { authorization: "Bearer wrong" };
    expect((await code("GET", "/health", {}))[0]).toBe(200);
    expect(await code("GET", "/health", { headers: wrong })).toEqual([401, "unauthorized"]);
    expect((await code("GET", "/health", { headers: bearer }))[0]).toBe(200);
  });

  test("a bad file is reported and does not affect the Unix socket; one that is fixed later counts", async () => {
    const own = await createWorld();
    const right = { authorization: `Bearer ${own.http.token}` };
    chmodSync(own.tokenFile, 0o644);
    expect((await own.ask("GET", "/health")).status).toBe(200);
    expect((await own.ask("GET", "/health", { headers: right })).status).toBe(401);
    expect(own.logged).toContainEqual({
      event: "http.token_unusable",
      fields: { message: expect.stringMatching(/mode 0600/) },
    });
    writeFileSync(own.tokenFile, `${"n".repeat(43)}\n`);
    chmodSync(own.tokenFile, 0o600);
    expect((await own.ask("GET", "/health", { headers: right })).status).toBe(401);
    const renewed = { authorization: `Bearer ${"n".repeat(43)}` };
    expect((await own.ask("GET", "/health", { headers: renewed })).status).toBe(200);
    await own.close();
  });

  test("its file is 0600, kept across restarts, and never logged", async () => {
    expect(statSync(world.tokenFile).mode & 0o777).toBe(0o600);
    expect(readFileSync(world.tokenFile, "utf8").trim()).toBe(world.http.token);
    expect(ensureToken(world.tokenFile)).toBe(world.http.token);
    await world.ask("GET", "/health", { tcp: true });
    expect(world.logged.length).toBeGreaterThan(0);
    expect(JSON.stringify(world.logged)).not.toContain(world.http.token);
    expect(world.logged).toContainEqual({
      event: "http.listen",
      fields: { port: world.http.port, token_file: world.tokenFile },
    });
  });

  test("a file that others can read, a link, or one without a token is refused with what to do", () => {
    const file = join(world.home, "other-token");
    writeFileSync(file, `${"a".repeat(43)}\n`, { mode: 0o600 });
    expect(readToken(file)).toBe("a".repeat(43));
    chmodSync(file, 0o644);
    expect(() => readToken(file)).toThrow(/mode 0600; remove it/);
    rmSync(file);
    symlinkSync(world.tokenFile, file);
    expect(() => ensureToken(file)).toThrow(/regular file/);
    rmSync(file);
    writeFileSync(file, "", { mode: 0o600 });
    expect(() => ensureToken(file)).toThrow(/contains no token/);
    rmSync(file);
  });
});

describe("other sites (DNS rebinding, foreign pages)", () => {
  const host = (name: string) => ({ ...bearer, host: name });

  test.each([
    "evil.example",
    "evil.example:80",
    "localhost",
    "127.0.0.1",
    "127.0.0.1:1",
    "localhost.evil.example:PORT",
    "127.0.0.1:PORT@evil.example",
    "0.0.0.0:PORT",
    "127.1:PORT",
    "2130706433:PORT",
    "[::ffff:127.0.0.1]:PORT",
    "blemeesd",
  ])("Host %j on loopback is 403, on every path, though the token is right", async (name) => {
    const headers = host(name.replace("PORT", String(world.http.port)));
    for (const path of ["/health", "/nowhere"])
      expect(await code("GET", path, { tcp: true, headers })).toEqual([403, "forbidden"]);
  });

  test.each(["127.0.0.1:PORT", "localhost:PORT", "[::1]:PORT", "LOCALHOST:PORT"])(
    "control: Host %s passes",
    async (name) => {
      const headers = host(name.replace("PORT", String(world.http.port)));
      expect((await code("GET", "/health", { tcp: true, headers }))[0]).toBe(200);
    },
  );

  test("on the Unix socket it is localhost with any port, or blemeesd", async () => {
    for (const name of ["localhost", "localhost:80", "127.0.0.1", "[::1]:9", "blemeesd"])
      expect((await code("GET", "/health", { headers: { host: name } }))[0], name).toBe(200);
    for (const name of ["evil.example", "localhost.evil.example", "blemeesd:80", "localhost:x"])
      expect((await code("GET", "/health", { headers: { host: name } }))[0], name).toBe(403);
  });

  test("no Host header, an empty one, two of them, and an absolute address are refused", async () => {
    const heads = [
      "GET /health HTTP/1.1\r\nHost: localhost\r\nHost: evil\r\n\r\n",
      "GET http://evil/health HTTP/1.1\r\nHost: localhost\r\n\r\n",
      "GET /health HTTP/1.1\r\nHost:\r\n\r\n",
      "GET /health HTTP/1.0\r\n\r\n",
    ];
    for (const text of heads) {
      const socket = await world.raw();
      socket.end(text);
      expect(await untilClosed(socket), text).toMatch(/^HTTP\/1\.1 40[03]/);
    }
  });

  test.each(["Idempotency-Key", "X-Blemees-Session", "Content-Type"])(
    "two headers %s are refused as ambiguous",
    async (name) => {
      const type = "Content-Type: application/json\r\nContent-Length: 2\r\n";
      const request = (lines: string) =>
        `POST /sessions/${SESSION}/interrupt HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n${type}${lines}\r\n{}`;
      const twice = await world.raw();
      twice.write(request(`${name}: a\r\n${name}: b\r\n`));
      expect(await untilClosed(twice)).toMatch(/^HTTP\/1\.1 403 .*duplicate header: /s);
      expect(world.manager.calls).toEqual([]);
      const once = await world.raw();
      once.write(request(name === "Content-Type" ? "" : `${name}: a\r\n`));
      expect(await untilClosed(once)).toMatch(/^HTTP\/1\.1 200 /);
    },
  );

  const foreign = ["null", "http://evil.example", "https://127.0.0.1:PORT", "http://localhost:1", "file://"];
  test.each(foreign)("Origin %s is 403, for a reply and for a stream", async (origin) => {
    const headers = { ...bearer, origin: origin.replace("PORT", String(world.http.port)) };
    expect(await code("GET", "/sessions", { tcp: true, headers })).toEqual([403, "forbidden"]);
    const accept = { ...headers, accept: "text/event-stream" };
    for (const path of [`/sessions/${SESSION}/events`, "/events"])
      expect(await code("GET", path, { tcp: true, headers: accept })).toEqual([403, "forbidden"]);
    expect((await code("GET", "/health", { headers: { origin: "http://evil.example" } }))[0]).toBe(403);
    expect(world.manager.calls).toEqual([]);
  });

  test("control: our own Origin passes, for a reply and for a stream", async () => {
    const headers = { ...bearer, origin: `http://localhost:${world.http.port}` };
    expect((await code("GET", "/sessions", { tcp: true, headers }))[0]).toBe(200);
    const accept = { ...headers, accept: "text/event-stream" };
    const reader = new SseReader(
      await world.open(`/sessions/${SESSION}/events`, { tcp: true, headers: accept }),
    );
    expect(reader.response.statusCode).toBe(200);
    reader.close();
  });

  test("a browser that says that another site asks is refused, one that says same-origin is not", async () => {
    const from = (site: string) =>
      code("GET", "/health", { tcp: true, headers: { ...bearer, "sec-fetch-site": site } });
    expect((await from("cross-site"))[0]).toBe(403);
    expect((await from("same-site"))[0]).toBe(403);
    expect((await from("same-origin"))[0]).toBe(200);
    expect((await from("none"))[0]).toBe(200);
  });

  test("only loopback is bound", async () => {
    const others = Object.values(networkInterfaces())
      .flatMap((list) => list ?? [])
      .filter(({ internal, family }) => !internal && family === "IPv4")
      .map(({ address }) => address);
    // On Linux all of 127/8 is this machine: a server on every address answers there too.
    if (process.platform === "linux") others.push("127.0.0.2");
    for (const address of others) {
      const refused = await new Promise<boolean>((resolve) => {
        const probe = connect(world.http.port, address);
        probe.once("connect", () => resolve(false));
        probe.once("error", () => resolve(true));
      });
      expect(refused, address).toBe(true);
    }
    (await world.raw(true)).destroy();
  });
});

describe("simple requests (CSRF)", () => {
  const types = [
    undefined,
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "application/jsonx",
    "application/json; charset=utf-16",
    "text/json",
  ];
  test.each(types)("POST and PATCH with type %s are 415 and do nothing", async (type) => {
    const headers = { ...bearer, ...(type === undefined ? {} : { "content-type": type }) };
    for (const { method, path } of paths.filter(({ method }) => method === "POST" || method === "PATCH")) {
      for (const tcp of [true, false]) {
        // Node's client would put none; ours would put JSON.
        const socket = await world.raw(tcp);
        const name = tcp ? `127.0.0.1:${world.http.port}` : "localhost";
        const lines = Object.entries({ host: name, connection: "close", "content-length": "2", ...headers });
        const head = lines.map(([key, value]) => `${key}: ${value}\r\n`).join("");
        socket.write(`${method} ${path} HTTP/1.1\r\n${head}\r\n{}`);
        expect(await untilClosed(socket), `${method} ${path}`).toMatch(/^HTTP\/1\.1 415 /);
      }
    }
    expect(world.manager.calls).toEqual([]);
  });

  test("a POST without body needs the type too; DELETE with a body as well", async () => {
    const socket = await world.raw();
    socket.write(
      `POST /sessions/${SESSION}/interrupt HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`,
    );
    expect(await untilClosed(socket)).toMatch(/^HTTP\/1\.1 415 /);
    const headers = { "content-type": "text/plain", "content-length": "2" };
    expect((await code("DELETE", `/sessions/${SESSION}`, { headers, body: "{}" }))[0]).toBe(415);
    const gzip = { "content-type": "application/json", "content-encoding": "gzip" };
    expect((await code("POST", "/sessions", { headers: gzip, body: "{}" }))[0]).toBe(415);
    expect(world.manager.calls).toEqual([]);
  });

  test("control: application/json passes, with a charset too, and DELETE without a body", async () => {
    for (const type of ["application/json", "application/json; charset=utf-8", "Application/JSON"]) {
      const headers = { "content-type": type };
      expect((await code("POST", `/sessions/${SESSION}/interrupt`, { headers, body: {} }))[0]).toBe(200);
    }
    expect((await code("DELETE", `/sessions/${SESSION}`, {}))[0]).toBe(200);
  });

  test("no GET changes anything", async () => {
    const reading =
      /^(views|view|family|queue|events|watch|wait|requests|request|actions|stats|changes|fileChanges|usage|quota|files|settings)$/;
    for (const { path } of paths.filter(({ method, path }) => method === "GET" && path !== "/events"))
      await world.ask("GET", path);
    expect(world.manager.calls.length).toBeGreaterThan(8);
    expect(world.manager.calls.filter(({ name }) => !reading.test(name))).toEqual([]);
  });

  test("a preflight gets nothing, so a browser never sends what it asked for", async () => {
    const headers = { origin: "http://evil.example", "access-control-request-method": "POST" };
    const { status, headers: reply } = await world.ask("OPTIONS", "/sessions", { tcp: true, headers });
    expect(status).toBe(403);
    expect(Object.keys(reply).filter((name) => name.startsWith("access-control"))).toEqual([]);
  });
});

test("every reply, good, bad or broken, has the headers that a browser must see, and none that opens a door", async () => {
  const replies = [
    await world.ask("GET", "/health"),
    await world.ask("GET", "/nowhere"),
    await world.ask("GET", "/metrics"),
    await world.ask("GET", "/health", { tcp: true, headers: {} }),
    await world.ask("GET", "/health", { headers: { host: "evil" } }),
  ];
  const stream = await world.open("/events");
  stream.destroy();
  const broken = await world.raw();
  broken.end("NONSENSE\r\n\r\n");
  const text = (await untilClosed(broken)).toLowerCase();
  for (const headers of [...replies.map((reply) => reply.headers), stream.headers]) {
    expect(headers).toMatchObject({
      "content-security-policy": expect.stringContaining("default-src 'none'"),
      "x-content-type-options": "nosniff",
      "cache-control": "no-store",
      "referrer-policy": "no-referrer",
    });
    expect(Object.keys(headers).filter((name) => /^(access-control|set-cookie)/.test(name))).toEqual([]);
  }
  expect(text).toContain("content-security-policy: default-src 'none'");
  expect(text).not.toContain("access-control");
});

test("agent text is JSON or an event's data, never HTML", async () => {
  const name = "<script>alert(1)</script>\n\ndata: evil\nevent: x";
  const reply = await world.ask("PATCH", `/sessions/${SESSION}`, { body: { name: name.slice(0, 100) } });
  expect(reply.headers["content-type"]).toBe("application/json; charset=utf-8");
  const reader = new SseReader(
    await world.open(`/sessions/${SESSION}/events?since_seq=0`, { headers: { accept: "text/event-stream" } }),
  );
  world.manager.publish({ type: "agent.x\n\nevent: y", text: name });
  world.manager.publish({ text: name });
  await reader.until(({ events }) => events.length === 2);
  expect(reader.events.map(({ event }) => event)).toEqual(["agent.x__event__y", "agent.delta"]);
  expect(JSON.parse(reader.events[1]?.data ?? "").text).toBe(name);
  reader.close();
});
