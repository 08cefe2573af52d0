// What an agent offers, in Chromium: its commands after `/`, its models and modes; and what it does right now.
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { findBrowser } from "./browser.ts";
import { Dashboard, say, shows, waitsFor } from "./dashboard.ts";

const hasBrowser = findBrowser() !== undefined;

let dashboard: Dashboard;

beforeAll(async () => {
  if (hasBrowser) dashboard = await Dashboard.start();
});
afterEach(() => dashboard?.chromium.closeWindows());
afterAll(async () => {
  await dashboard?.close();
});

const select = (label: string): string => `.session-settings label:has(span:text-is("${label}")) select`;

describe.skipIf(!hasBrowser)("what an agent offers, in Chromium", () => {
  test("its commands are listed after / with what they do, and one is taken", async () => {
    const id = await dashboard.spawn("#say hello");
    const { page } = await dashboard.look(id);
    await shows(page, "hello");
    await page.focus(".composer-text");
    await page.keyboard.type("/com");
    await waitsFor(async () =>
      expect(await page.innerText(".completions")).toContain("Summarize the conversation"),
    );
    await page.keyboard.press("Tab");
    expect(await page.inputValue(".composer-text")).toBe("/compact ");
  });

  test("the model is changed at once, the mode after a confirmation", async () => {
    const id = await dashboard.spawn("#say hello");
    const { page } = await dashboard.look(id);
    await page.selectOption(select("Model"), "sonnet");
    await waitsFor(async () => expect((await dashboard.http.settings(id)).model?.current).toBe("sonnet"));
    await page.selectOption(select("Mode"), "acceptEdits");
    expect(await page.innerText(".dialog-text")).toContain("changes files without asking");
    await page.click('.dialog >> text="Cancel"');
    expect(await page.inputValue(select("Mode"))).toBe("default");
    await page.selectOption(select("Mode"), "acceptEdits");
    await page.click(".dialog .primary");
    await waitsFor(async () =>
      expect((await dashboard.http.settings(id)).permission_mode?.current).toBe("acceptEdits"),
    );
  });

  test("a session without a message says what to do; a running turn, what the agent does", async () => {
    const id = await dashboard.spawn();
    const { page } = await dashboard.look(id);
    await waitsFor(async () => expect(await page.innerText(".feed")).toContain("Nothing was said yet"));
    await say(page, "#hang");
    await waitsFor(async () => expect(await page.innerText(".activity")).toContain("waiting for the agent"));
    expect(await page.innerText(".feed")).not.toContain("Nothing was said yet");
    await dashboard.http.interrupt(id);
    await waitsFor(async () => expect(await page.locator(".activity").count()).toBe(0));
  });
});
