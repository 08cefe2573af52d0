import { expect, test } from "vitest";
import type { Entry } from "../../../src/client/view/types.ts";
import { newsOf } from "../../../src/tui/session/news.ts";
import { createUi } from "../../../src/tui/session/state.ts";
import { commandRequest } from "../support/scripted-driver.ts";
import { liveView } from "../support/ui.ts";

const SIZE = { columns: 80, rows: 24 };
const state = (change: Parameters<typeof liveView>[0]) => createUi(liveView(change), SIZE, 1);
const result = (subtype: string): Entry => ({ kind: "result", id: "r", seq: 2, depth: 0, subtype });
const RUNNING = state({ turn: {} });

test("a request that was not there is news, one that was is not", () => {
  const asked = state({ requests: [commandRequest("s", "x")] });
  expect(newsOf(RUNNING, asked)).toBe("waits");
  expect(newsOf(asked, asked)).toBeUndefined();
});

test("the end of a turn is news, unless the person ended it or more is queued", () => {
  expect(newsOf(RUNNING, state({ entries: [result("success")] }))).toBe("done");
  expect(newsOf(RUNNING, state({ entries: [result("error")] }))).toBe("failed");
  expect(newsOf(RUNNING, state({ entries: [result("interrupted")] }))).toBeUndefined();
});

test("history that is read is no news", () => {
  expect(newsOf(state({}), state({ entries: [result("success")] }))).toBeUndefined();
  const lost = state({ link: { state: "lost" } });
  expect(newsOf(lost, state({ requests: [commandRequest("s", "x")] }))).toBeUndefined();
});
