// Debian's Chromium with the dashboard. Errors logged by the page, and every report of the content policy, are kept: a
// test that ends with one has failed.
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { expect } from "vitest";
import { findChromium } from "../../../scripts/find-chromium.mjs";

/** Undefined if there is no browser; with CI_REQUIRE_FACES=1 that is an error. */
export function findBrowser(): string | undefined {
  const found = findChromium();
  if (found === undefined && process.env["CI_REQUIRE_FACES"] === "1")
    throw new Error("CI_REQUIRE_FACES is set, and there is no Chromium on the PATH");
  return found;
}

export interface Window {
  page: Page;
  context: BrowserContext;
  /** Errors of the page and reports of its policy so far. */
  faults: string[];
}

export class Chromium {
  readonly #browser: Browser;
  readonly #windows: Window[] = [];
  /** Of all windows, including closed ones. */
  readonly #faults: string[][] = [];

  constructor(browser: Browser) {
    this.#browser = browser;
  }

  static async start(): Promise<Chromium> {
    const executablePath = findBrowser();
    if (executablePath === undefined) throw new Error("no Chromium on the PATH");
    return new Chromium(await chromium.launch({ executablePath, args: ["--no-sandbox"] }));
  }

  /** A new window without any stored data. */
  async open(options: Parameters<Browser["newContext"]>[0] = {}): Promise<Window> {
    const context = await this.#browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
    return this.tab(context);
  }

  async tab(context: BrowserContext): Promise<Window> {
    const page = await context.newPage();
    const faults: string[] = [];
    page.on("pageerror", (error) => faults.push(String(error)));
    page.on("console", (message) => {
      // The browser also logs an unreachable daemon; the page handles it.
      if (message.type() === "error" && !/net::ERR_|Failed to load resource/.test(message.text()))
        faults.push(message.text());
    });
    const window = { page, context, faults };
    this.#windows.push(window);
    this.#faults.push(faults);
    return window;
  }

  /** After each test: an unused page would keep following its session. */
  async closeWindows(): Promise<void> {
    await Promise.all(this.#windows.splice(0).map(({ context }) => context.close()));
  }

  /** Closes it and checks that no page had an error. */
  async close(): Promise<void> {
    await this.#browser.close();
    expect(this.#faults.flat()).toEqual([]);
  }
}
