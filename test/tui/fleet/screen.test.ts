// The screen of all sessions as the app sees it: its behaviour while something is still loading.
import { afterEach, expect, test, vi } from "vitest";
import { createFleet, type Fleet } from "../../../src/client/view/fleet.ts";
import { createFleetScreen } from "../../../src/tui/fleet/screen.ts";
import type { App, Opener, Screen } from "../../../src/tui/screen-types.ts";
import type { FleetDriver, SessionDriver } from "../../../src/tui/types.ts";
import { aView } from "../../client/session-views.ts";
import { PATIENT } from "../../support/patience.ts";

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

type Load = () => Promise<(driver: SessionDriver) => Opener>;

function screenWith(driver: Partial<FleetDriver>, load: Load = () => new Promise(() => undefined)) {
  let tell: (fleet: Fleet) => void = () => undefined;
  const app = { redraw: vi.fn(), open: vi.fn(), notify: vi.fn(), size: () => ({ columns: 80, rows: 24 }) };
  const whole = {
    start: (listener: typeof tell) => (tell = listener),
    close: async () => undefined,
    ...driver,
  };
  const screen: Screen = createFleetScreen(whole as unknown as FleetDriver, load)(app as unknown as App);
  closers.push(() => screen.close());
  const link = (state: Fleet["link"]["state"]): void =>
    tell({
      ...createFleet(),
      sessions: new Map([["s1", aView({ turn: { turn_id: "t", started_at_ms: 0 } })]]),
      link: { state },
    });
  return { app, screen, link };
}

test("a key that comes while the session's screen is loaded does nothing to the list", async () => {
  const interrupt = vi.fn(async () => undefined);
  let loaded: (open: (driver: SessionDriver) => Opener) => void = () => undefined;
  const load: Load = () =>
    new Promise((resolve) => {
      loaded = resolve;
    });
  const open = vi.fn(() => ({}) as SessionDriver);
  const { app, screen, link } = screenWith({ interrupt, open }, load);
  link("live");
  screen.onInput({ kind: "key", chord: "enter" });
  screen.onInput({ kind: "text", text: "x" });
  loaded(() => () => screen);
  await vi.waitFor(() => expect(app.open).toHaveBeenCalledOnce(), PATIENT);
  expect(open).toHaveBeenCalledWith("s1");
  expect(interrupt).not.toHaveBeenCalled();
  screen.onInput({ kind: "text", text: "x" });
  expect(interrupt).toHaveBeenCalledWith("s1");
});

test("a form that was opened while the daemon was away learns the agents when it is back, and can be sent", async () => {
  const backends = vi
    .fn<() => Promise<string[]>>()
    .mockRejectedValueOnce(new Error("no daemon"))
    .mockResolvedValue(["claude"]);
  const spawn = vi.fn(() => new Promise<string>(() => undefined));
  const { app, screen, link } = screenWith({ backends, spawn });
  link("lost");
  app.redraw.mockClear();
  screen.onInput({ kind: "text", text: "n" });
  await vi.waitFor(() => expect(app.redraw).toHaveBeenCalledTimes(2), PATIENT);
  screen.onInput({ kind: "key", chord: "enter" });
  expect(spawn).not.toHaveBeenCalled();
  link("live");
  await vi.waitFor(() => {
    screen.onInput({ kind: "key", chord: "enter" });
    expect(spawn).toHaveBeenCalledWith(expect.objectContaining({ backend: "claude" }));
  }, PATIENT);
  expect(backends).toHaveBeenCalledTimes(2);
});
