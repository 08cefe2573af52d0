// What a new user does: `npm start`, then only what the screens suggest, until something was approved in the browser.
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ROOT } from "../../support/root.ts";
import { TmuxTerminal, tmuxVersion } from "../../support/tmux.ts";
import { untilGone } from "../processes.ts";
import { Chromium, findBrowser } from "./browser.ts";

const canLook = findBrowser() !== undefined && tmuxVersion() !== undefined;

let home: string;
let chromium: Chromium;
let terminal: TmuxTerminal | undefined;

beforeAll(async () => {
  home = realpathSync(mkdtempSync(join(tmpdir(), "blemees-e2e-")));
  for (const name of ["run", "state", "config"]) mkdirSync(join(home, name), { mode: 0o700 });
  if (canLook) chromium = await Chromium.start();
});
afterAll(async () => {
  if (canLook) await chromium.close();
  terminal?.close();
  await untilGone(`HOME=${home}`);
  rmSync(home, { recursive: true, force: true, maxRetries: 5 });
});

describe.skipIf(!canLook)("npm start", () => {
  test("leads to an approval in the browser by following the screens", async () => {
    terminal = new TmuxTerminal({
      command: ["npm", "start"],
      // A machine with Node and nothing else: none of the user's agents is found.
      env: {
        PATH: `${dirname(process.execPath)}:/usr/bin:/bin`,
        HOME: home,
        XDG_RUNTIME_DIR: join(home, "run"),
        XDG_STATE_HOME: join(home, "state"),
        XDG_CONFIG_HOME: join(home, "config"),
        BLEMEESD_CLAUDE: "/nonexistent/claude",
        BLEMEESD_CODEX: "/nonexistent/codex",
      },
      cwd: ROOT,
      columns: 130,
      rows: 40,
      saveTo: join(ROOT, ".e2e/screens/newcomer"),
    });
    const screen = await terminal.until(/http:\/\/127\.0\.0\.1:\d+\/#token=\S+/);
    terminal.save("npm-start");
    expect(screen).toContain("Open this link in your browser");
    expect(screen).toContain("Try the demo");
    const { page } = await chromium.open();
    await page.goto(/http:\/\/127\.0\.0\.1:\d+\/#token=\S+/.exec(screen)?.[0] ?? "");
    await page.getByRole("button", { name: "Try the demo" }).click();
    await page.locator(".card.is-waiting").waitFor();
    expect(await page.innerText(".card.is-waiting")).toContain("rm -rf build");
    await page.getByRole("button", { name: /Accept once/ }).click();
    await page.getByText("It was allowed").waitFor();
    terminal.press("C-c");
    await untilGone(`HOME=${home}`);
  });
});
