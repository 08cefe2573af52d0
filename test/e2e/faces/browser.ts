// Debian's Chromium with the dashboard in it. What the page logs as an error, and every report of the content policy,
// is kept: a test that ends with one has failed.
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { expect } from "vitest";
import { findChromium } from "../../../scripts/find-chromium.mjs";

/** Undefined where there is no browser; with CI_REQUIRE_FACES=1 that is a fault. */
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
  /** Of all windows, also of those that are closed. */
  readonly #faults: string[][] = [];

  constructor(browser: Browser) {
    this.#browser = browser;
  }

  static async start(): Promise<Chromium> {
    const executablePath = findBrowser();
    if (executablePath === undefined) throw new Error("no Chromium on the PATH");
    return new Chromium(await chromium.launch({ executablePath, args: ["--no-sandbox"] }));
  }

  /** A window of its own, with nothing kept from others. */
  async open(options: Parameters<Browser["newContext"]>[0] = {}): Promise<Window> {
    const context = await this.#browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
    return this.tab(context);
  }

  async tab(context: BrowserContext): Promise<Window> {
    const page = await context.newPage();
    const faults: string[] = [];
    page.on("pageerror", (error) => faults.push(String(error)));
    page.on("console", (message) => {
      // A daemon that is away is told by the browser too; the page deals with it.
      if (message.type() === "error" && !/net::ERR_|Failed to load resource/.test(message.text()))
        faults.push(message.text());
    });
    const window = { page, context, faults };
    this.#windows.push(window);
    this.#faults.push(faults);
    return window;
  }

  /** After each test: a page that nobody looks at any more goes on following its session. */
  async closeWindows(): Promise<void> {
    await Promise.all(this.#windows.splice(0).map(({ context }) => context.close()));
  }

  /** Closes it and holds that no page had a fault. */
  async close(): Promise<void> {
    await this.#browser.close();
    expect(this.#faults.flat()).toEqual([]);
  }
}
