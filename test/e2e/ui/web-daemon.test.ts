// The page about the daemon, in Chromium: restarting and stopping it, after a confirmation.
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { HttpClient } from "../../../src/client/index.ts";
import { findBrowser } from "./browser.ts";
import { Dashboard, waitsFor } from "./dashboard.ts";

const hasBrowser = findBrowser() !== undefined;

let dashboard: Dashboard;

beforeEach(async () => {
  if (hasBrowser) dashboard = await Dashboard.start();
});
afterEach(async () => {
  await dashboard?.close();
});

async function open() {
  const { page } = await dashboard.chromium.open();
  await page.goto(await dashboard.link());
  await page.waitForSelector("x-welcome");
  await page.keyboard.press("g");
  await page.keyboard.press("d");
  await page.waitForSelector(".daemon-facts");
  return page;
}

describe.skipIf(!hasBrowser)("the daemon, in Chromium", () => {
  test("restart asks first, then another process answers and its log is shown", async () => {
    const page = await open();
    await page.click('.daemon-actions >> text="Restart"');
    await page.click('.dialog >> text="Cancel"');
    expect((await dashboard.http.health()).pid).toBe(dashboard.daemon.pid);
    await page.click('.daemon-actions >> text="Restart"');
    await page.click('.dialog .primary:has-text("Restart")');
    const http = new HttpClient({ socket: dashboard.daemon.socket });
    try {
      await waitsFor(async () => expect(await page.innerText(".toasts")).toContain("Replaced by blemeesd/"));
      expect((await http.health()).pid).not.toBe(dashboard.daemon.pid);
      await waitsFor(async () =>
        expect(await page.innerText(".daemon-log .exact")).toContain("daemon.took_over"),
      );
    } finally {
      await http.stopDaemon();
      await waitsFor(async () =>
        expect(
          await http
            .withoutRetry()
            .health()
            .catch(() => "gone"),
        ).toBe("gone"),
      );
    }
  });

  test("stop says what ends, and the page says that the daemon does not respond", async () => {
    const page = await open();
    await page.click('.daemon-actions >> text="Stop"');
    expect(await page.innerText(".dialog-text")).toContain("running agents end");
    await page.click(".dialog .danger");
    await waitsFor(async () =>
      expect(await page.innerText(".banner")).toContain("The daemon is not responding"),
    );
    expect(await dashboard.daemon.exited).toEqual({ code: 0, signal: null });
  });
});
