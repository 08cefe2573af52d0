import { expect, test } from "vitest";
import type { Entry } from "../../../src/client/view/types.ts";
import { detectNotification } from "../../../src/tui/session/notifications.ts";
import { createUi } from "../../../src/tui/session/state.ts";
import { commandRequest } from "../support/scripted-driver.ts";
import { liveView } from "../support/ui.ts";

const SIZE = { columns: 80, rows: 24 };
const state = (change: Parameters<typeof liveView>[0]) => createUi(liveView(change), SIZE, 1);
const result = (subtype: string): Entry => ({ kind: "result", id: "r", seq: 2, depth: 0, subtype });
const RUNNING = state({ turn: {} });

test("a new request notifies, a known one does not", () => {
  const asked = state({ requests: [commandRequest("s", "x")] });
  expect(detectNotification(RUNNING, asked)).toBe("waits");
  expect(detectNotification(asked, asked)).toBeUndefined();
});

test("the end of a turn notifies, unless the user interrupted it or more is queued", () => {
  expect(detectNotification(RUNNING, state({ entries: [result("success")] }))).toBe("done");
  expect(detectNotification(RUNNING, state({ entries: [result("error")] }))).toBe("failed");
  expect(detectNotification(RUNNING, state({ entries: [result("interrupted")] }))).toBeUndefined();
});

test("history does not notify", () => {
  expect(detectNotification(state({}), state({ entries: [result("success")] }))).toBeUndefined();
  const lost = state({ link: { state: "lost" } });
  expect(detectNotification(lost, state({ requests: [commandRequest("s", "x")] }))).toBeUndefined();
});
