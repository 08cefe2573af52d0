// The dashboard's files: served without a token, by their exact names, and only to our own page and to a user who
// follows a link. The HTTP rows of docs/security.md again, each with a control.
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { createWebFiles } from "../../../src/servers/http/web/files.ts";
import { type Answer, type Ask, createWorld, untilClosed, WEB_FILES, type World } from "./world.ts";

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.close());

const FILES = [
  "/",
  "/web/main-ABCD1234.js",
  "/web/main-EFGH5678.css",
  "/web/icon.svg",
  "/web/manifest.webmanifest",
];
/** On loopback, with no token. */
const get = (path: string, headers: Record<string, string> = {}, ask: Ask = {}): Promise<Answer> =>
  world.ask("GET", path, { tcp: true, headers, ...ask });

/** The request line is sent exactly as written here. */
async function rawStatus(line: string, headers = ""): Promise<number> {
  const socket = await world.raw(true);
  const host = `Host: 127.0.0.1:${world.http.port}\r\nConnection: close\r\n`;
  socket.write(`${line} HTTP/1.1\r\n${host}${headers}\r\n`);
  return Number(/^HTTP\/1\.1 (\d+)/.exec(await untilClosed(socket))?.[1]);
}

describe("what is served", () => {
  test.each([
    ["/", "text/html; charset=utf-8", WEB_FILES["index.html"]],
    ["/web/main-ABCD1234.js", "text/javascript; charset=utf-8", WEB_FILES["main-ABCD1234.js"]],
    ["/web/main-EFGH5678.css", "text/css; charset=utf-8", WEB_FILES["main-EFGH5678.css"]],
    ["/web/icon.svg", "image/svg+xml", WEB_FILES["icon.svg"]],
    ["/web/manifest.webmanifest", "application/manifest+json", WEB_FILES["manifest.webmanifest"]],
  ])("%s without a token, as %s", async (path, type, text) => {
    const reply = await get(path);
    expect([reply.status, reply.headers["content-type"], reply.text]).toEqual([200, type, text]);
    expect(reply.headers).toMatchObject({
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer",
      "cross-origin-resource-policy": "same-origin",
    });
    expect(Object.keys(reply.headers).filter((name) => /^(access-control|set-cookie)/.test(name))).toEqual(
      [],
    );
    expect((await world.ask("GET", path)).status, "on the Unix socket too").toBe(200);
  });

  test("the page may run only our own scripts, and every other reply none at all", async () => {
    const { headers } = await get("/");
    expect(headers["content-security-policy"]).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " +
        "manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; " +
        "require-trusted-types-for 'script'; trusted-types lit-html",
    );
    expect(headers["cross-origin-opener-policy"]).toBe("same-origin");
    const bearer = { authorization: `Bearer ${world.http.token}` };
    for (const reply of [await get("/web/icon.svg"), await get("/health", bearer), await get("/health")])
      expect(reply.headers["content-security-policy"]).toBe("default-src 'none'; frame-ancestors 'none'");
  });

  test("a name with a hash is cached forever, the page and the others not at all", async () => {
    const caching = async (path: string) => (await get(path)).headers["cache-control"];
    expect(await caching("/web/main-ABCD1234.js")).toBe("public, max-age=31536000, immutable");
    for (const path of ["/", "/web/icon.svg", "/web/manifest.webmanifest"])
      expect(await caching(path), path).toBe("no-store");
  });
});

describe("nothing else is let in without the token", () => {
  test.each([
    "/web/",
    "/web",
    "/web/secret.txt",
    "/web/index.html",
    "/web/sub.js",
    "/index.html",
    "//",
    "/./",
    "/%2f",
    "/web/..",
    "/web/../health",
    "/web/../../etc/passwd",
    "/web/..%2f..%2fetc%2fpasswd",
    "/web/%2e%2e/health",
    "/web/./icon.svg",
    "/web//icon.svg",
    "/web/icon.svg/",
    "/web/icon.svg%00.js",
    "/web/ICON.SVG",
    "/web/icon%2esvg",
    "/web\\icon.svg",
    "/web/__proto__",
    "/web/constructor",
    "/health",
    "/sessions",
    "/events",
    "/stats",
    "/web/links",
  ])("GET %s is 401", async (path) => {
    expect(await rawStatus(`GET ${path}`)).toBe(401);
  });

  test("with the token a path that walks elsewhere is a missing file", async () => {
    const bearer = `Authorization: Bearer ${world.http.token}\r\n`;
    for (const path of [
      "/web/..%2f..%2fetc%2fpasswd",
      "/web/secret.txt",
      "/web/sub.js",
      "/web/..%5cicon.svg",
    ])
      expect(await rawStatus(`GET ${path}`, bearer), path).toBe(404);
    expect(await rawStatus("GET /web/icon.svg", bearer), "control").toBe(200);
  });

  test("only GET: HEAD is 405, others need the token", async () => {
    const bearer = { authorization: `Bearer ${world.http.token}` };
    for (const path of ["/", "/web/icon.svg"]) {
      expect(await rawStatus(`HEAD ${path}`, `Authorization: Bearer ${world.http.token}\r\n`)).toBe(405);
      for (const method of ["HEAD", "OPTIONS", "PUT", "POST", "DELETE"])
        expect(await rawStatus(`${method} ${path}`), `${method} ${path}`).toBe(401);
      expect((await world.ask("DELETE", path, { tcp: true, headers: bearer })).status).toBe(405);
    }
  });
});

describe("other sites", () => {
  test.each([
    "evil.example",
    "evil.example:PORT",
    "localhost.evil.example:PORT",
    "127.0.0.1:1",
    "localhost",
    "blemeesd",
  ])("a page that was rebound to us (Host %j) gets no file", async (name) => {
    const host = name.replace("PORT", String(world.http.port));
    for (const path of FILES) expect((await get(path, { host })).status, path).toBe(403);
  });

  test.each(["127.0.0.1:PORT", "localhost:PORT", "[::1]:PORT"])("control: Host %s does", async (name) => {
    const host = name.replace("PORT", String(world.http.port));
    for (const path of FILES) expect((await get(path, { host })).status, path).toBe(200);
  });

  test.each(["null", "http://evil.example", "https://127.0.0.1:PORT", "http://localhost:1"])(
    "Origin %s gets no file",
    async (name) => {
      const origin = name.replace("PORT", String(world.http.port));
      for (const path of FILES) expect((await get(path, { origin })).status, path).toBe(403);
    },
  );

  const visit = { "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" };
  test.each(["cross-site", "same-site"])("a user may follow a %s link to the page", async (site) => {
    expect((await get("/", { ...visit, "sec-fetch-site": site })).status).toBe(200);
  });

  test.each(["cross-site", "same-site"])("a %s page may not load, frame or fetch anything", async (site) => {
    const foreign = { "sec-fetch-site": site };
    for (const path of FILES) {
      for (const dest of ["script", "style", "image", "iframe", "frame", "object", "embed", "empty"]) {
        for (const mode of ["navigate", "no-cors", "cors"]) {
          const headers = { ...foreign, "sec-fetch-dest": dest, "sec-fetch-mode": mode };
          expect((await get(path, headers)).status, `${path} ${dest} ${mode}`).toBe(403);
        }
      }
      for (const mode of ["no-cors", "cors"]) {
        const headers = { ...foreign, "sec-fetch-dest": "document", "sec-fetch-mode": mode };
        expect((await get(path, headers)).status, `${path} document ${mode}`).toBe(403);
      }
      expect((await get(path, foreign)).status, `${path} without more`).toBe(403);
    }
  });

  test("a visit from elsewhere opens only the page", async () => {
    const headers = { ...visit, "sec-fetch-site": "cross-site", authorization: `Bearer ${world.http.token}` };
    for (const path of [...FILES.slice(1), "/health", "/sessions", "/stats"])
      expect((await get(path, headers)).status, path).toBe(403);
  });

  test("control: our own page loads its files", async () => {
    const own = { "sec-fetch-site": "same-origin", "sec-fetch-mode": "cors", "sec-fetch-dest": "script" };
    for (const path of FILES) expect((await get(path, own)).status, path).toBe(200);
  });
});

describe("the table of files", () => {
  const newDirectory = (): string => {
    const directory = mkdtempSync(join(tmpdir(), "bl-web-"));
    onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
    return directory;
  };

  test("files that were not built are reported with what to do, and looked for again", () => {
    const directory = newDirectory();
    const files = createWebFiles(join(directory, "web"));
    expect(files).toThrow(/files are missing .*npm run build/);
    expect(createWebFiles(directory)).toThrow(/no index\.html.*npm run build/);
    const late = createWebFiles(directory);
    expect(late).toThrow();
    writeFileSync(join(directory, "index.html"), "<p>");
    expect([...late().keys()]).toEqual(["/"]);
  });

  test("it is read once: a build while the daemon runs mixes nothing", () => {
    const directory = newDirectory();
    writeFileSync(join(directory, "index.html"), "old");
    const files = createWebFiles(directory);
    expect(String(files().get("/")?.bytes)).toBe("old");
    writeFileSync(join(directory, "index.html"), "new");
    writeFileSync(join(directory, "late.js"), "");
    expect(String(files().get("/")?.bytes)).toBe("old");
    expect(files().has("/web/late.js")).toBe(false);
  });

  test("a link that leads out of the folder is none of it", () => {
    const directory = newDirectory();
    writeFileSync(join(directory, "index.html"), "<p>");
    symlinkSync("/etc/passwd", join(directory, "passwd.js"));
    expect([...createWebFiles(directory)().keys()]).toEqual(["/"]);
  });

  test("a daemon without them answers as before, and says how to build", async () => {
    const own = await createWorld();
    rmSync(join(own.home, "web"), { recursive: true });
    const { status, body } = await own.ask("GET", "/", { tcp: true, headers: {} });
    expect([status, body.error.code, body.error.message]).toEqual([
      404,
      "not_found",
      expect.stringContaining("npm run build"),
    ]);
    expect((await own.ask("POST", "/web/links", { body: {} })).body.error.message).toContain("npm run build");
    expect((await own.ask("GET", "/web/icon.svg", { tcp: true, headers: {} })).status).toBe(401);
    expect((await own.ask("GET", "/health", { tcp: true })).status).toBe(200);
    await own.close();
  });
});
