// The dashboard of a real daemon whose agent is the fake of test/fakes: it writes, asks and streams what a test wants.
// And a user's actions on the page, for every test of it.
import type { Page } from "playwright-core";
import { expect, vi } from "vitest";
import { HttpClient } from "../../../src/client/index.ts";
import { startDaemon, type TestDaemon } from "../../support/daemon.ts";
import { PATIENT } from "../../support/patience.ts";
import { Chromium, type Window } from "./browser.ts";

type WindowOptions = Parameters<Chromium["open"]>[0];

export class Dashboard {
  readonly chromium: Chromium;
  daemon: TestDaemon;
  http: HttpClient;

  constructor(chromium: Chromium, daemon: TestDaemon) {
    this.chromium = chromium;
    this.daemon = daemon;
    this.http = new HttpClient({ socket: daemon.socket });
  }

  static async start(): Promise<Dashboard> {
    return new Dashboard(await Chromium.start(), await startDaemon());
  }

  /** A session, optionally with its first message. */
  async spawn(text?: string, name?: string): Promise<string> {
    const { session } = await this.http.spawn({ backend: "claude", ...(name === undefined ? {} : { name }) });
    if (text !== undefined) await this.http.input(session.session_id, { text });
    return session.session_id;
  }

  async link(port = 0): Promise<string> {
    return (await this.http.webLink({ port })).url;
  }

  /** A window opened with its own link, on this session. */
  async look(session_id: string, options: WindowOptions = {}): Promise<Window> {
    const window = await this.chromium.open(options);
    await window.page.goto(await this.link());
    await goTo(window.page, session_id);
    return window;
  }

  /** Another daemon in its place; with `home` on the same state. */
  async replace(home?: string): Promise<void> {
    this.use(await startDaemon(home === undefined ? {} : { home }));
  }

  use(daemon: TestDaemon): void {
    this.daemon = daemon;
    this.http = new HttpClient({ socket: daemon.socket });
  }

  async close(): Promise<void> {
    await this.chromium.close();
    await this.daemon.close();
  }
}

export async function goTo(page: Page, session_id: string): Promise<void> {
  await page.waitForSelector("x-fleet");
  await page.evaluate((hash) => {
    location.hash = hash;
  }, `#/s/${session_id}`);
  // Attached: on a small screen a pending request takes its place.
  await page.waitForSelector(".composer-text", { state: "attached" });
}

export async function say(page: Page, text: string): Promise<void> {
  await page.fill(".composer-text", text);
  await page.press(".composer-text", "Enter");
}

export const feedText = (page: Page): Promise<string> => page.innerText(".feed");

export function shows(page: Page, text: string | RegExp): Promise<void> {
  return vi.waitFor(async () => {
    const now = await feedText(page);
    if (typeof text === "string") expect(now).toContain(text);
    else expect(now).toMatch(text);
  }, PATIENT);
}

export function stateIs(page: Page, state: string): Promise<void> {
  return vi.waitFor(
    async () => expect((await page.innerText('[data-fact="state"]')).toLowerCase()).toContain(state),
    PATIENT,
  );
}

export function waitsFor(check: () => Promise<void>): Promise<void> {
  return vi.waitFor(check, PATIENT);
}
