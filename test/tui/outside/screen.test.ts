// The list of sessions started outside as the app sees it.
import { expect, test, vi } from "vitest";
import { createOutsideScreen } from "../../../src/tui/outside/screen.ts";
import type { App } from "../../../src/tui/screen-types.ts";
import type { OutsideDriver, SessionDriver } from "../../../src/tui/types.ts";
import { PATIENT } from "../../support/patience.ts";

const TRANSCRIPT = {
  ...{ session_id: "t1", backend: "claude", provider: "claude" },
  ...{ last_active_at_ms: 0, size_bytes: 1 },
};

function open(more: Partial<OutsideDriver> = {}) {
  const app = {
    ...{ look: { hasColor: false, isAscii: false }, size: () => ({ columns: 80, rows: 24 }) },
    ...{ redraw: vi.fn(), back: vi.fn() },
  };
  const list = vi.fn(async () => ({ transcripts: [TRANSCRIPT] }));
  const driver = { list, read: () => ({}) as SessionDriver, adopt: async () => "t1", ...more };
  const options = { driver, show: vi.fn(), openSession: vi.fn() };
  const screen = createOutsideScreen(options)(app as unknown as App);
  const rows = (): string => screen.draw({ columns: 80, rows: 24 }).rows.join("\n");
  screen.onShown?.(true);
  return { app, screen, rows, list, ...options };
}

test("it is read again each time it is shown, and says why if that fails", async () => {
  const { screen, rows, list } = open();
  await vi.waitFor(() => expect(rows()).toContain("t1"), PATIENT);
  list.mockRejectedValueOnce(new Error("no daemon"));
  screen.onShown?.(false);
  screen.onShown?.(true);
  await vi.waitFor(() => expect(rows()).toContain("no daemon"), PATIENT);
  expect(rows()).toContain("t1");
});

test("a conversation that is continued by a message is replaced by its session", async () => {
  const read = vi.fn<OutsideDriver["read"]>(() => ({}) as SessionDriver);
  const { app, screen, rows, show, openSession } = open({ read });
  await vi.waitFor(() => expect(rows()).toContain("t1"), PATIENT);
  screen.onInput({ kind: "key", chord: "enter" });
  expect(show).toHaveBeenCalledOnce();
  read.mock.calls[0]?.[1]("t1");
  expect(app.back).toHaveBeenCalledTimes(2);
  expect(openSession).toHaveBeenCalledWith("t1");
});

test("one that cannot be continued stays, with the reason", async () => {
  const adopt = vi
    .fn<OutsideDriver["adopt"]>()
    .mockRejectedValueOnce(new Error("open in process 7"))
    .mockResolvedValue("t1");
  const { screen, rows, openSession } = open({ adopt });
  await vi.waitFor(() => expect(rows()).toContain("t1"), PATIENT);
  screen.onInput({ kind: "text", text: "c" });
  await vi.waitFor(() => expect(rows()).toContain("open in process 7"), PATIENT);
  expect(openSession).not.toHaveBeenCalled();
  screen.onInput({ kind: "text", text: "c" });
  await vi.waitFor(() => expect(openSession).toHaveBeenCalledWith("t1"), PATIENT);
});
