// Sessions that were started outside, in Chromium: found, read, and continued with their history.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { findBrowser } from "./browser.ts";
import { Dashboard, shows, waitsFor } from "./dashboard.ts";

const hasBrowser = findBrowser() !== undefined;
const ID = "5a01f0d8-0760-4c1f-9d3e-0123456789ab";

let dashboard: Dashboard;

beforeEach(async () => {
  if (hasBrowser) dashboard = await Dashboard.start();
});
afterEach(async () => {
  await dashboard?.close();
});

/** A conversation as the agent's own program keeps it. */
function writeTranscript(cwd: string): void {
  const directory = join(dashboard.daemon.home, "claude/projects", cwd.replace(/[^a-zA-Z0-9]/g, "-"));
  mkdirSync(directory, { recursive: true });
  const common = {
    sessionId: ID,
    cwd,
    version: "2.1.0",
    isSidechain: false,
    timestamp: "2026-01-05T10:00:00.000Z",
  };
  const lines = [
    {
      ...common,
      type: "user",
      uuid: "u1",
      parentUuid: null,
      message: { role: "user", content: "look <b>here</b>" },
    },
    {
      ...common,
      ...{ type: "assistant", uuid: "a1", parentUuid: "u1" },
      message: {
        id: "m1",
        role: "assistant",
        type: "message",
        model: "claude-x",
        content: [{ type: "text", text: "It is **there**." }],
      },
    },
  ];
  writeFileSync(join(directory, `${ID}.jsonl`), lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
}

describe.skipIf(!hasBrowser)("sessions that were started outside, in Chromium", () => {
  test("one is found by its title, read as text, and continued as a session with what was said", async () => {
    const cwd = join(dashboard.daemon.home, "project");
    mkdirSync(cwd);
    writeTranscript(cwd);
    const { page } = await dashboard.chromium.open();
    await page.goto(await dashboard.link());
    await page.click(".welcome-real >> text=started outside");
    await page.fill(".outside-search input", "no such title");
    await waitsFor(async () =>
      expect(await page.innerText("x-outside .empty")).toContain("None of those loaded fits"),
    );
    await page.fill(".outside-search input", "here project");
    await page.click(".outside-row");
    await shows(page, "look <b>here</b>");
    await shows(page, "It is there.");
    expect(await page.locator(".entry-actions >> text=Raw").count()).toBe(0);
    await page.click("text=Continue here");
    await page.waitForSelector(".composer-text");
    expect(page.url()).toContain(`#/s/${ID}`);
    await shows(page, "look <b>here</b>");
  });

  test("without any, the page says where they come from", async () => {
    const { page } = await dashboard.chromium.open();
    await page.goto(await dashboard.link());
    await page.click(".welcome-real >> text=started outside");
    await waitsFor(async () =>
      expect(await page.innerText("x-outside .empty")).toContain("No conversation was started outside"),
    );
  });
});
