// Text that looks like code, in every place where foreign text reaches the page: nothing runs, nothing is fetched,
// nothing becomes markup, and the browser has no policy violation to report (Chromium.close checks).
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { reveal, revealLine, sanitizeLine } from "../../../src/base/sanitize.ts";
import { findBrowser } from "./browser.ts";
import { Dashboard, goTo, shows, waitsFor } from "./dashboard.ts";

const hasBrowser = findBrowser() !== undefined;
const WAITING = ".card.is-waiting";

/** Each sets `pwned` if it is treated as more than text. */
const CORPUS = [
  `<script>pwned=1</script>`,
  `<img src=x onerror="pwned=2">`,
  `"><svg/onload=pwned=3>`,
  `<iframe srcdoc="<script>parent.pwned=4</script>"></iframe>`,
  `'onfocus='pwned=5' autofocus='`,
  `<a href="javascript:pwned=6">x</a>`,
  `<style>*{display:none}</style><link rel=stylesheet href=//x>`,
  `<math><mtext><table><mglyph><style><img src=x onerror=pwned=7>`,
  `\${pwned=8}{{pwned=8}}<!--lit-part-->?lit$1$`,
  `</textarea></pre></code><input autofocus onfocus=pwned=9>`,
  `<base href="http://127.0.0.1:9/"><meta http-equiv=refresh content="0;url=http://127.0.0.1:9/">`,
];
const MARKDOWN = [
  `[click](javascript:pwned=10)`,
  `[click](JaVaScRiPt&colon;pwned=11)`,
  `![i](http://127.0.0.1:9/seen.png)`,
  `[d](data:text/html,<script>pwned=12</script>)`,
  `<https://bank.example@127.0.0.1:9/>`,
  "```html\n<script>pwned=13</script>\n```",
  `| <b>a</b> |\n|---|\n| <img src=x onerror=pwned=14> |`,
];
const ALL = CORPUS.join(" ");

let dashboard: Dashboard;
let page: Page | undefined;
/** Not from the daemon. */
const fetched: string[] = [];

beforeAll(async () => {
  if (hasBrowser) dashboard = await Dashboard.start();
});
afterAll(async () => {
  await dashboard?.close();
});

/** What must not be in the page, whatever its input. */
async function foundIn(page: Page): Promise<unknown> {
  return page.evaluate(() => ({
    pwned: (globalThis as { pwned?: unknown }).pwned ?? null,
    elements: [
      ...document.body.querySelectorAll("script, iframe, img, object, embed, base, meta, link, style"),
    ].map((element) => element.outerHTML),
    handlers: [...document.querySelectorAll("*")]
      .flatMap(({ attributes }) => [...attributes])
      .filter(({ name }) => name.startsWith("on"))
      .map(({ name, value }) => `${name}=${value}`),
    links: [...document.querySelectorAll("a[href]")]
      .map((link) => link.getAttribute("href") ?? "")
      .filter((href) => !/^(#|https?:\/\/|mailto:)/.test(href)),
  }));
}
const NOTHING = { pwned: null, elements: [], handlers: [], links: [] };

/** All of it in one window, as a user goes from session to session. */
async function open(text: string, name?: string): Promise<{ page: Page; id: string }> {
  const id = await dashboard.spawn(text, name);
  if (page === undefined) {
    page = (await dashboard.look(id)).page;
    const { origin } = new URL(page.url());
    page.on("request", (request) => {
      if (!request.url().startsWith(origin)) fetched.push(request.url());
    });
  } else await goTo(page, id);
  return { page, id };
}

const answered = (page: Page) => waitsFor(async () => expect(await page.locator(WAITING).count()).toBe(0));

describe.skipIf(!hasBrowser)("hostile text, in Chromium", () => {
  test.each(CORPUS)("a message, its answer and the name of the session: %s", async (text) => {
    const { page } = await open(`#say ${text}`, text.slice(0, 100));
    await waitsFor(async () =>
      expect(await page.innerText("h1.session-title")).toBe(sanitizeLine(text.slice(0, 100)).trim()),
    );
    await waitsFor(async () =>
      expect((await page.locator(".feed").textContent())?.split(text).length).toBeGreaterThanOrEqual(3),
    );
    expect(await foundIn(page)).toEqual(NOTHING);
    expect(fetched).toEqual([]);
  });

  test("Markdown produces no executable link, and no image is fetched", async () => {
    const { page } = await open(`#say ${JSON.stringify(MARKDOWN.join("\n\n")).slice(1, -1)}`);
    await shows(page, "click");
    expect(await foundIn(page)).toEqual(NOTHING);
    expect(fetched).toEqual([]);
  });

  test("a tool's name, its input, its reason and the path of a file are text, exactly", async () => {
    const raw = {
      tool_name: "Edit",
      input: { file_path: `/tmp/${ALL}`, old_string: ALL, new_string: `${ALL}\u202e\n${ALL}` },
      tool_use_id: "toolu_1",
      decision_reason: ALL,
    };
    const { page, id } = await open(`#ask-raw ${JSON.stringify(raw)}`);
    await page.waitForSelector(WAITING);
    const [request] = await dashboard.http.allRequests({ session_id: id });
    const { payload } = await dashboard.http.request(id, request?.request_id ?? "");
    const text = await page.locator(WAITING).evaluate((card) => card.textContent ?? "");
    expect(text).toContain(reveal(`/tmp/${ALL}`));
    expect(text).toContain(reveal(JSON.stringify(payload, undefined, 2)));
    expect(await page.locator(`${WAITING} .diff-lines`).evaluate((lines) => lines.textContent)).toBe(
      `${reveal((payload.changes?.[0]?.diff ?? "").replace(/^@@\n|\n$/g, ""))}\n`,
    );
    expect(await foundIn(page)).toEqual(NOTHING);
    await page.click(`${WAITING} [data-decision="accept"]`);
    await answered(page);
    expect(await foundIn(page)).toEqual(NOTHING);
  });

  test("a tool of any name can be requested, and refused with a reason that is text too", async () => {
    const raw = { tool_name: ALL, input: { [ALL]: ALL }, tool_use_id: "toolu_2" };
    const { page } = await open(`#ask-raw ${JSON.stringify(raw)}`);
    await page.waitForSelector(WAITING);
    expect(await page.locator(WAITING).evaluate((card) => card.textContent)).toContain(revealLine(ALL));
    await page.click(`${WAITING} [data-decision="decline"]`);
    await page.fill(".card-decline textarea", ALL);
    await page.click('.card-decline [data-decision="decline"]');
    await answered(page);
    await shows(page, CORPUS[0] ?? "");
    expect(await foundIn(page)).toEqual(NOTHING);
  });

  test("questions, their options and a plan are text", async () => {
    const options = CORPUS.slice(0, 3).map((label) => ({ label, description: ALL }));
    const questions = [{ question: ALL, header: "<b>h</b>", multiSelect: false, options }];
    const raw = { tool_name: "AskUserQuestion", input: { questions }, tool_use_id: "toolu_3" };
    const { page } = await open(`#ask-raw ${JSON.stringify(raw)}`);
    await page.waitForSelector("fieldset.question");
    const form = await page.locator("form.questions").evaluate((element) => element.textContent);
    for (const text of [ALL, "<b>h</b>", ...CORPUS.slice(0, 3)]) expect(form).toContain(reveal(text));
    expect(await foundIn(page)).toEqual(NOTHING);
    await page.check("label.option >> nth=1 >> input");
    await page.click(`${WAITING} [data-decision="accept"]`);
    await answered(page);

    const plan = await open(`#plan ${ALL}`);
    await plan.page.waitForSelector(WAITING);
    const text = await plan.page.locator(WAITING).evaluate((card) => card.textContent);
    expect(text).toContain(reveal(ALL));
    expect(await foundIn(plan.page)).toEqual(NOTHING);
  });
});
