#!/usr/bin/env node
// The dashboard with many sessions and requests: how long a key takes until the next frame, and frames per second while
// the list is scrolled and sessions change. The API is made up, so that only the page is measured.
//   node scripts/bench/ui/many.mjs [--sessions 1000] [--requests 200] [--changes 50] [--trace FILE]
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { chromium } from "playwright-core";
import { findChromium } from "../../find-chromium.mjs";
import { root } from "../../prepare.mjs";
import { quantile } from "../rounds.mjs";

const { values } = parseArgs({
  options: {
    sessions: { type: "string", default: "1000" },
    requests: { type: "string", default: "200" },
    changes: { type: "string", default: "50" },
    trace: { type: "string" },
  },
});
const SESSIONS = Number(values.sessions);
const REQUESTS = Number(values.requests);
/** Sessions that change per second. */
const CHANGES = Number(values.changes);
const PRESSES = 100;
const WEB = join(root, "dist/web");
const TYPES = { js: "text/javascript", css: "text/css", svg: "image/svg+xml", html: "text/html" };

const startedMs = Date.now();
const sessions = Array.from({ length: SESSIONS }, (_, at) => makeSession(at));
const requests = Array.from({ length: REQUESTS }, (_, at) => makeRequest(at));

const server = createServer((incoming, outgoing) => {
  const { pathname, searchParams } = new URL(incoming.url ?? "/", "http://127.0.0.1");
  if (pathname === "/events") follow(outgoing);
  else if (incoming.method === "GET" && (pathname === "/" || pathname.startsWith("/web/")))
    serve(pathname, outgoing);
  else {
    outgoing.setHeader("content-type", "application/json");
    outgoing.end(JSON.stringify(reply(pathname, searchParams)));
  }
});
await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
const browser = await chromium.launch({ executablePath: findChromium() ?? "", args: ["--no-sandbox"] });
try {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  await page.addInitScript(TIME_KEYS());
  const openedMs = Date.now();
  await page.goto(`http://127.0.0.1:${port}/#token=made-up`);
  await page.waitForSelector(".fleet-row");
  await page.waitForFunction(`document.querySelector(".fleet-totals").textContent.includes("${SESSIONS}")`);
  print("list shown after", [Date.now() - openedMs]);
  if (values.trace !== undefined) await browser.startTracing(page, { path: values.trace });
  await page.focus(".fleet-list");
  await keys(page, "list: ArrowDown", Array(PRESSES).fill("ArrowDown"));
  await keys(page, "list: PageDown, End, Home", [...Array(PRESSES / 2).fill("PageDown"), "End", "Home"]);
  await page.focus('x-fleet input[type="search"]');
  await keys(page, "list: typing a filter", [..."session 12", ...Array(10).fill("Backspace")]);
  await scroll(page, ".fleet-list", "list: scrolling");
  await page.evaluate('location.hash = "#/inbox"');
  await page.waitForSelector(".card.is-waiting");
  await keys(page, "inbox: j", Array(PRESSES).fill("j"));
  await keys(page, "inbox: k", Array(PRESSES).fill("k"));
  await scroll(page, ".inbox-list", "inbox: scrolling");
  await page.evaluate(`location.hash = "#/s/${sessions[0]?.session_id}"`);
  await page.waitForSelector("x-session");
  await page.focus(".fleet-list");
  await keys(page, "list beside a session: ArrowDown", Array(PRESSES).fill("ArrowDown"));
  if (values.trace !== undefined) await browser.stopTracing();
} finally {
  await browser.close();
  server.closeAllConnections();
  server.close();
}

/**
 * @param {import("playwright-core").Page} page
 * @param {string} what
 * @param {readonly string[]} pressed
 */
async function keys(page, what, pressed) {
  await page.evaluate("globalThis.keyTimes.length = 0");
  for (const key of pressed) {
    await page.keyboard.press(key);
    await page.evaluate("new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))");
  }
  print(
    `${what}: ms from key to frame`,
    /** @type {number[]} */ (await page.evaluate("globalThis.keyTimes")),
  );
}

/**
 * @param {import("playwright-core").Page} page
 * @param {string} selector
 * @param {string} what
 */
async function scroll(page, selector, what) {
  const frames = /** @type {number[]} */ (
    await page.evaluate(`new Promise((resolve) => {
      const list = document.querySelector(${JSON.stringify(selector)});
      const times = [];
      let before;
      const tick = (now) => {
        if (before !== undefined) times.push(now - before);
        before = now;
        list.scrollTop += 40;
        if (list.scrollTop + list.clientHeight >= list.scrollHeight - 1) list.scrollTop = 0;
        if (times.length < 300) requestAnimationFrame(tick);
        else resolve(times);
      };
      requestAnimationFrame(tick);
    })`)
  );
  const total = frames.reduce((sum, time) => sum + time, 0);
  print(`${what}: ms between frames, ${((frames.length * 1000) / total).toFixed(1)} fps`, frames);
}

/** @param {string} what @param {readonly number[]} times */
function print(what, times) {
  const sorted = [...times].sort((a, b) => a - b);
  const at = [0.5, 0.95, 1].map((part) => quantile(sorted, part).toFixed(1));
  console.log(`${what}: median ${at[0]}, p95 ${at[1]}, max ${at[2]} (${times.length})`);
}

/** From the key's own time to after the next paint. */
function TIME_KEYS() {
  return `
    globalThis.keyTimes = [];
    addEventListener("keydown", ({ timeStamp }) => {
      requestAnimationFrame(() => {
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = () => globalThis.keyTimes.push(performance.now() - timeStamp);
        port2.postMessage(undefined);
      });
    }, { capture: true });
  `;
}

/** @param {string} pathname @param {import("node:http").ServerResponse} outgoing */
function serve(pathname, outgoing) {
  const name = pathname === "/" ? "index.html" : pathname.slice("/web/".length).replaceAll("/", "");
  const type = TYPES[/** @type {keyof typeof TYPES} */ (name.split(".").at(-1))];
  outgoing.setHeader("content-type", type ?? "application/json");
  outgoing.end(readFileSync(join(WEB, name)));
}

/** @param {string} pathname @param {URLSearchParams} query */
function reply(pathname, query) {
  if (pathname === "/web/enter") return { token: "made-up" };
  if (pathname === "/health") return { ok: true, daemon: "blemeesd/0", pid: 1 };
  if (pathname === "/requests") return { requests, sessions: [] };
  if (pathname === "/sessions") {
    const from = Number(query.get("after") ?? 0);
    const next = from + Number(query.get("limit") ?? SESSIONS);
    return { sessions: sessions.slice(from, next), ...(next < SESSIONS ? { next: String(next) } : {}) };
  }
  const [, , id, part] = pathname.split("/");
  if (part === "requests")
    return { requests: requests.filter(({ session_id }) => session_id === id), sessions: [] };
  if (part === "queue") return { session_id: id, queued: [], recent: [] };
  if (part === "events")
    return {
      events: [],
      earliest_seq: null,
      latest_seq: 0,
      next_seq: 0,
      history_gap: false,
      gap_reason: null,
    };
  return sessions.find(({ session_id }) => session_id === id) ?? {};
}

/** @param {import("node:http").ServerResponse} outgoing */
function follow(outgoing) {
  outgoing.writeHead(200, { "content-type": "text/event-stream" });
  let id = 0;
  /** @param {string} event @param {object} data */
  const send = (event, data) => {
    id += 1;
    outgoing.write(`id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  };
  send("reset", { kind: "reset" });
  const timer = setInterval(() => {
    const session = sessions[Math.floor(Math.random() * SESSIONS)];
    if (session === undefined) return;
    session.last_seq += 1;
    session.usage = { input_tokens: session.last_seq * 10, output_tokens: 5 };
    send("session", { kind: "session", session });
  }, 1_000 / CHANGES);
  outgoing.on("close", () => clearInterval(timer));
}

/** @param {number} at */
function makeSession(at) {
  const isAsking = at < REQUESTS;
  const isWorking = !isAsking && at % 5 === 0;
  return {
    session_id: `00000000-0000-4000-8000-${String(at).padStart(12, "0")}`,
    backend: "demo",
    provider: "demo",
    name: `session ${at}`,
    cwd: `/srv/project-${at % 40}`,
    project: `/srv/project-${at % 40}`,
    labels: at % 3 === 0 ? ["nightly"] : [],
    children: [],
    managed: true,
    activity_state: isAsking ? "waiting_permission" : isWorking ? "working" : "idle",
    attached: false,
    running: true,
    stalled: false,
    ...(isAsking || isWorking ? { turn: { turn_id: "t", started_at_ms: startedMs } } : {}),
    pending_requests: isAsking ? 1 : 0,
    family_pending_requests: isAsking ? 1 : 0,
    queued: 0,
    turns: 3,
    usage: { input_tokens: 1_000, output_tokens: 200 },
    context_tokens: 1_200,
    cost_usd: at / 1_000,
    started_at_ms: startedMs - at * 60_000,
    last_active_at_ms: startedMs - at * 1_000,
    last_seq: 10,
    last_action: { summary_text: `ran \`npm test -- part-${at}\`` },
  };
}

/** Every fifth is an edit; the others are commands, of which a few are the same. @param {number} at */
function makeRequest(at) {
  const isEdit = at % 5 === 0;
  const lines = Array.from(
    { length: 20 },
    (_, line) => `-old line ${line} of ${at}\n+new line ${line} of ${at}`,
  );
  const path = `/srv/project-${at % 40}/src/file-${at}.ts`;
  return {
    request_id: `r-${at}`,
    session_id: sessions[at]?.session_id ?? "",
    backend: "demo",
    request_type: isEdit ? "file_change" : "command",
    status: "pending",
    shown_hash: `h-${at}`,
    requested_at_ms: startedMs - (REQUESTS - at) * 1_000,
    generation: "g",
    payload: {
      title: isEdit ? `Edit: ${path}` : "Bash: npm test",
      tool_name: isEdit ? "Edit" : "Bash",
      choices: [{ decision: "accept" }, { decision: "decline", takes: ["message"] }, { decision: "cancel" }],
      ...(isEdit
        ? { changes: [{ path, kind: "update", diff: `@@ -1,20 +1,20 @@\n${lines.join("\n")}` }] }
        : { command: `npm test -- part-${at}`, cwd: `/srv/project-${at % 40}` }),
    },
  };
}
