// Writing a message in the dashboard, in Chromium: files after @, by keys alone; images.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { findBrowser } from "./browser.ts";
import { Dashboard, shows } from "./dashboard.ts";

const hasBrowser = findBrowser() !== undefined;
const cwd = mkdtempSync(join(tmpdir(), "bl-composer-"));
/** One transparent pixel. */
const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==",
  "base64",
);
let dashboard: Dashboard;

beforeAll(async () => {
  mkdirSync(join(cwd, "src"));
  for (const name of ["src/config.ts", "src/content.ts", "read me.md"]) writeFileSync(join(cwd, name), "x");
  if (hasBrowser) dashboard = await Dashboard.start();
});
afterEach(() => dashboard?.chromium.closeWindows());
afterAll(async () => {
  await dashboard?.close();
  rmSync(cwd, { recursive: true, force: true });
});

async function open(): Promise<Page> {
  const { session } = await dashboard.http.spawn({ backend: "claude", cwd });
  const { page } = await dashboard.look(session.session_id);
  await page.focus(".composer-text");
  return page;
}

describe.skipIf(!hasBrowser)("the composer, in Chromium", () => {
  test("@ lists files, the arrows select, Enter takes one and the next Enter sends", async () => {
    const page = await open();
    await page.keyboard.type("see @cont");
    await page.waitForSelector('.completion:has-text("src/content.ts")[aria-selected="true"]');
    await page.keyboard.press("Enter");
    expect(await page.inputValue(".composer-text")).toBe("see @src/content.ts ");
    await page.keyboard.type("and @read");
    await page.waitForSelector('.completion:has-text("read me.md")');
    await page.keyboard.press("Tab");
    expect(await page.inputValue(".composer-text")).toBe('see @src/content.ts and @"read me.md" ');
    await page.waitForSelector(".completions", { state: "detached" });
    await page.keyboard.press("Enter");
    await shows(page, 'see @src/content.ts and @"read me.md"');
  });

  test("Escape closes the list without leaving the field", async () => {
    const page = await open();
    await page.keyboard.type("@");
    await page.waitForSelector(".completion");
    await page.keyboard.press("Escape");
    await page.waitForSelector(".completions", { state: "detached" });
    await page.keyboard.type("x");
    expect(await page.inputValue(".composer-text")).toBe("@x");
    expect(await page.locator(".completions").count()).toBe(0);
  });

  test("images are pasted, dropped and chosen, removed, and sent as blocks", async () => {
    const page = await open();
    await page.setInputFiles(".attach input", { name: "a.txt", mimeType: "image/png", buffer: PNG });
    await page.waitForSelector('.picture img[alt="a.txt"]');
    await transfer(page, "paste", [{ name: "b.png", bytes: [...PNG] }]);
    await page.waitForSelector('.picture img[alt="b.png"]');
    await transfer(page, "drop", [
      { name: "c.png", bytes: [...PNG] },
      { name: "notes.pdf", bytes: [37, 80, 68, 70] },
    ]);
    await page.waitForSelector('.picture img[alt="c.png"]');
    expect(await page.innerText(".composer .error-text")).toContain("notes.pdf is not a PNG");
    await page.click('[aria-label="Remove b.png"]');
    await page.keyboard.type("what is this?");
    const sent = page.waitForRequest(/\/input$/);
    await page.keyboard.press("Enter");
    await shows(page, "2 attachments");
    expect(await page.locator(".picture").count()).toBe(0);
    const image = {
      type: "image",
      source: { type: "base64", media_type: "image/png", data: PNG.toString("base64") },
    };
    expect((await sent).postDataJSON()).toMatchObject({
      message: { content: [{ type: "text", text: "what is this?" }, image, image] },
    });
  });

  test("a file that is dropped beside the field does not replace the page; of 50, ten are taken", async () => {
    const page = await open();
    const files = Array.from({ length: 50 }, (_, at) => ({ name: `${at}.png`, bytes: [...PNG] }));
    expect(await transfer(page, "drop", files, ".topbar")).toBe(true);
    await page.waitForSelector(".picture:nth-child(10)");
    expect(await page.locator(".picture").count()).toBe(10);
    expect(await page.innerText(".composer .error-text")).toContain("37 more files were left out");
  });
});

/** Returns whether the page kept the browser from doing anything with the files. */
function transfer(
  page: Page,
  type: "paste" | "drop",
  files: readonly { name: string; bytes: number[] }[],
  to = ".composer-text",
): Promise<boolean> {
  return page.evaluate(
    ({ type, files, to }) => {
      const data = new DataTransfer();
      for (const { name, bytes } of files) data.items.add(new File([new Uint8Array(bytes)], name));
      const common = { bubbles: true, cancelable: true };
      const event =
        type === "paste"
          ? new ClipboardEvent("paste", { ...common, clipboardData: data })
          : new DragEvent("drop", { ...common, dataTransfer: data });
      document.querySelector(to)?.dispatchEvent(event);
      return event.defaultPrevented;
    },
    { type, files, to },
  );
}
