// Hostile pages in a real browser against the dashboard: one of another site, which reaches our port, and one of ours
// with injected content. Each attempt has a control: against a server without such rules the same attempt succeeds.
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { HttpClient } from "../../../src/client/index.ts";
import { startDaemon, type TestDaemon } from "../../support/daemon.ts";
import { findBrowser } from "./browser.ts";

const executablePath = findBrowser();
const hasBrowser = executablePath !== undefined;

let browser: Browser;
let daemon: TestDaemon;
let http: HttpClient;
let port: number;
let elsewhere: Elsewhere;

beforeAll(async () => {
  if (executablePath === undefined) return;
  browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
  daemon = await startDaemon({ args: ["--log-level", "debug"] });
  http = new HttpClient({ socket: daemon.socket, retry: false });
  port = (await http.webLink({ port: 0 })).port;
  elsewhere = await Elsewhere.start();
});
afterAll(async () => {
  await browser?.close();
  await elsewhere?.close();
  await daemon?.close();
});

/** A new window whose page is expected to be refused much. */
async function newWindow(): Promise<{ page: Page; context: BrowserContext }> {
  const context = await browser.newContext();
  return { context, page: await context.newPage() };
}

/** Another site: it answers everything, allows everything, and records its requests. */
class Elsewhere {
  readonly hits: string[] = [];
  readonly #server: Server;

  constructor() {
    this.#server = createServer((incoming, outgoing) => {
      const { method, url = "/" } = incoming;
      this.hits.push(`${method} ${url}`);
      outgoing.setHeader("access-control-allow-origin", incoming.headers.origin ?? "*");
      outgoing.setHeader("access-control-allow-headers", "*");
      outgoing.setHeader("content-type", typeOf(url));
      outgoing.end(url.endsWith(".svg") ? '<svg xmlns="http://www.w3.org/2000/svg"/>' : bodyOf(url));
    });
  }

  static async start(): Promise<Elsewhere> {
    const site = new Elsewhere();
    await new Promise<void>((resolve) => site.#server.listen(0, "127.0.0.1", resolve));
    return site;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  hitsOf(word: string): number {
    return this.hits.filter((hit) => hit.includes(word)).length;
  }

  close(): Promise<void> {
    this.#server.closeAllConnections();
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }
}

function typeOf(url: string): string {
  if (url.endsWith(".svg")) return "image/svg+xml";
  if (url.endsWith(".js")) return "text/javascript";
  return url === "/events" ? "text/event-stream" : "text/html";
}

function bodyOf(url: string): string {
  return url === "/events" ? "data: 1\n\n" : url.endsWith(".js") ? "" : "<!doctype html><p>hello</p>";
}

/** What a page of another site can make a browser do with an address; returns the names of the successful attempts. */
async function attack(page: Page, origin: string, script: string): Promise<string[]> {
  return page.evaluate(
    async ({ origin, script }) => {
      const within = (work: Promise<unknown>): Promise<boolean> =>
        Promise.race([
          work.then(
            () => true,
            () => false,
          ),
          new Promise<boolean>((resolve) => setTimeout(() => resolve(false), 2_000)),
        ]);
      const element = (name: "img" | "script", src: string): Promise<unknown> =>
        new Promise((resolve, reject) => {
          const made = document.createElement(name);
          made.onload = resolve;
          made.onerror = reject;
          made.src = src;
          document.body.append(made);
        });
      const readable = (path: string, init: RequestInit): Promise<unknown> =>
        fetch(origin + path, init).then((reply) => (reply.ok ? reply.text() : Promise.reject(reply.status)));
      const stream = new Promise((resolve, reject) => {
        const source = new EventSource(`${origin}/events`);
        source.onmessage = resolve;
        source.onerror = reject;
      });
      const json = { method: "POST", headers: { "content-type": "application/json" }, body: "{}" };
      const tries = {
        "read the page": readable("/", {}),
        "read a script": readable(script, {}),
        "read statistics": readable("/stats", {}),
        "post JSON": readable("/web/links", json),
        "try a link": readable("/web/enter", json),
        "run the script": element("script", origin + script),
        "show the icon": element("img", `${origin}/web/icon.svg`),
        "follow events": stream,
      };
      const names = Object.keys(tries);
      const went = await Promise.all(Object.values(tries).map(within));
      return names.filter((_name, at) => went[at]);
    },
    { origin, script },
  );
}

const EVERYTHING = [
  "read the page",
  "read a script",
  "read statistics",
  "post JSON",
  "try a link",
  "run the script",
  "show the icon",
  "follow events",
];

describe.skipIf(!hasBrowser)("a page of another site", () => {
  let window: Awaited<ReturnType<typeof newWindow>>;
  let script: string;
  beforeAll(async () => {
    window = await newWindow();
    const page = await (await fetch(`http://127.0.0.1:${port}/`)).text();
    [script = ""] = /\/web\/main-\w+\.js/.exec(page) ?? [];
  });

  // localhost and 127.0.0.1 are different sites to a browser; another port of the same name is the same site.
  test.each(["localhost", "127.0.0.1"])("at %s gets nothing from the dashboard", async (name) => {
    const { page } = window;
    await page.goto(`http://${name}:${elsewhere.port}/`);
    expect(await attack(page, `http://127.0.0.1:${elsewhere.port}`, script), "control").toEqual(EVERYTHING);
    const linksBefore = daemon.log().split('"web.link"').length;
    expect(await attack(page, `http://127.0.0.1:${port}`, script)).toEqual([]);
    expect(daemon.log().split('"web.link"').length).toBe(linksBefore);
  });

  test("cannot frame it", async () => {
    const { page } = window;
    await page.goto(`http://localhost:${elsewhere.port}/`);
    const framed = (target: number) =>
      page.evaluate(
        (src) =>
          new Promise<void>((resolve) => {
            const frame = document.createElement("iframe");
            frame.onload = () => resolve();
            frame.src = src;
            document.body.append(frame);
          }),
        `http://127.0.0.1:${target}/`,
      );
    const textOf = (target: number) =>
      page
        .frames()
        .find((frame) => frame.url().startsWith(`http://127.0.0.1:${target}`))
        ?.locator("body")
        .innerText();
    await framed(elsewhere.port);
    expect(await textOf(elsewhere.port), "control").toBe("hello");
    await framed(port);
    expect(page.frames().filter((frame) => frame.url() === `http://127.0.0.1:${port}/`)).toEqual([]);
  });

  test("cannot post a form to it", async () => {
    const post = async (target: number): Promise<number> => {
      const { page, context } = await newWindow();
      await page.goto(`http://localhost:${elsewhere.port}/`);
      const reply = page.waitForResponse(`http://127.0.0.1:${target}/web/links`);
      await page.evaluate((action) => {
        const form = document.createElement("form");
        Object.assign(form, { method: "POST", enctype: "text/plain", action });
        document.body.append(form);
        form.submit();
      }, `http://127.0.0.1:${target}/web/links`);
      const status = (await reply).status();
      await context.close();
      return status;
    };
    expect(await post(elsewhere.port), "control").toBe(200);
    expect(await post(port)).toBe(403);
  });

  test("that opens it keeps no handle on the window", async () => {
    const { page, context } = window;
    await page.goto(`http://localhost:${elsewhere.port}/`);
    const open = async (target: number): Promise<boolean> => {
      const opened = context.waitForEvent("page");
      await page.evaluate(
        (url) => Object.assign(globalThis, { handle: globalThis.open(url, "_blank") }),
        `http://127.0.0.1:${target}/`,
      );
      const other = await opened;
      await other.waitForLoadState();
      expect(await other.evaluate(() => document.readyState)).toBe("complete");
      const isHeld = await page.evaluate(() => !(globalThis as unknown as { handle: Window }).handle.closed);
      const isKnown = await other.evaluate(() => globalThis.opener !== null);
      await other.close();
      return isHeld && isKnown;
    };
    expect(await open(elsewhere.port), "control").toBe(true);
    expect(await open(port)).toBe(false);
  });
});

/** What a script or markup injected into a page would do; returns what succeeded. */
async function slip(page: Page, away: string): Promise<string[]> {
  return page.evaluate(async (away) => {
    const done: string[] = [];
    const attempt = (name: string, work: () => unknown): void => {
      try {
        if (work() !== false) done.push(name);
      } catch {
        // refused, which is what is asked
      }
    };
    const marks = globalThis as unknown as Record<string, unknown>;
    // In a timer: code that a debugger runs itself may use eval.
    await new Promise<void>((resolve) =>
      setTimeout(() => {
        // biome-ignore lint/security/noGlobalEval: whether it is refused is the question
        attempt("eval", () => globalThis.eval("1"));
        attempt("Function", () => new Function("return 1")());
        attempt("inline script", () => {
          const script = document.createElement("script");
          script.append(document.createTextNode("globalThis.slipped = true"));
          document.body.append(script);
          return marks["slipped"] === true;
        });
        attempt("markup", () => {
          document.body.insertAdjacentHTML("beforeend", "<b>x</b>");
        });
        attempt("handler", () => {
          const button = document.createElement("button");
          button.setAttribute("onclick", "globalThis.clicked = true");
          button.click();
          return marks["clicked"] === true;
        });
        attempt("style", () => {
          const style = document.createElement("style");
          style.append(document.createTextNode("body { outline: 7px solid }"));
          document.body.append(style);
          return getComputedStyle(document.body).outlineWidth === "7px";
        });
        attempt("base", () => {
          const base = document.createElement("base");
          base.href = away;
          document.head.append(base);
          const isMoved = document.baseURI.startsWith(away);
          base.remove();
          return isMoved;
        });
        resolve();
      }, 0),
    );
    await fetch(`${away}/slip-fetch`).then(
      () => done.push("fetch"),
      () => undefined,
    );
    for (const name of ["img", "iframe", "script"] as const) {
      try {
        const made = document.createElement(name);
        const ended = new Promise((resolve) => {
          made.onload = resolve;
          made.onerror = resolve;
          setTimeout(resolve, 1_000);
        });
        made.src = `${away}/slip-${name}${name === "script" ? ".js" : name === "img" ? ".svg" : ""}`;
        document.body.append(made);
        await ended;
      } catch {
        // refused
      }
    }
    navigator.sendBeacon?.(`${away}/slip-beacon`);
    const form = document.createElement("form");
    Object.assign(form, { method: "POST", action: `${away}/slip-form`, target: "_blank" });
    document.body.append(form);
    form.submit();
    await new Promise((resolve) => setTimeout(resolve, 500));
    return done;
  }, away);
}

const SENT = ["slip-fetch", "slip-img", "slip-iframe", "slip-script", "slip-beacon", "slip-form"];

test.skipIf(!hasBrowser)("content injected into our own page runs nothing and sends nothing", async () => {
  const away = `http://localhost:${elsewhere.port}`;
  const other = await newWindow();
  await other.page.goto(`http://127.0.0.1:${elsewhere.port}/`);
  expect(await slip(other.page, away), "control").toEqual([
    ...["eval", "Function", "inline script", "markup", "handler", "style", "base", "fetch"],
  ]);
  expect(
    SENT.filter((word) => elsewhere.hitsOf(word) === 0),
    "control",
  ).toEqual([]);
  await other.context.close();

  elsewhere.hits.length = 0;
  const own = await newWindow();
  await own.page.goto((await http.webLink()).url);
  await own.page.waitForSelector("x-fleet");
  expect(await slip(own.page, away)).toEqual([]);
  expect(elsewhere.hits).toEqual([]);
  await own.context.close();
});

test.skipIf(!hasBrowser)(
  "neither the ticket nor the token stays in the address, in cookies or in local storage",
  async () => {
    const { page, context } = await newWindow();
    const { url } = await http.webLink();
    const asked: string[] = [];
    page.on("request", (request) => asked.push(`${request.url()} ${request.headers()["referer"] ?? ""}`));
    await page.goto(url);
    await page.waitForSelector("x-fleet");
    const ticket = new URL(url).hash.slice("#token=".length);
    const token = await page.evaluate(() => sessionStorage.getItem("blemees.token") ?? "");
    expect(token).toMatch(/^[\w-]{43}$/);
    const kept = await page.evaluate(() => [
      location.href,
      document.cookie,
      JSON.stringify({ ...localStorage }),
    ]);
    // The first address is the one the user opened; the request had no fragment.
    const told = JSON.stringify([kept, await context.cookies(), asked.slice(1)]);
    for (const secret of [ticket, token]) expect(told).not.toContain(secret);
    await page.goBack().catch(() => undefined);
    expect(page.url()).not.toContain(ticket);
    await context.close();
  },
);
