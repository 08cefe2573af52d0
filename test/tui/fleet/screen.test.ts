// The screen of all sessions as the app sees it: its behaviour while something is still loading.
import { afterEach, expect, test, vi } from "vitest";
import { createFleet, type Fleet } from "../../../src/client/view/fleet.ts";
import { createFleetScreen, type OtherScreens } from "../../../src/tui/fleet/screen.ts";
import type { InboxScreenOptions } from "../../../src/tui/inbox/screen.ts";
import type { App, Opener, Screen } from "../../../src/tui/screen-types.ts";
import type { FleetDriver, SessionDriver } from "../../../src/tui/types.ts";
import { aView } from "../../client/session-views.ts";
import { PATIENT } from "../../support/patience.ts";
import { aRequest, fleetOf } from "../inbox/inbox-world.ts";

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

type Load = () => Promise<OtherScreens>;

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
  return { app, screen, link, tell: (fleet: Fleet) => tell(fleet) };
}

const FLEET = fleetOf(aRequest("a"), aRequest("b", { command: "ls" }));

test("a key that comes while the session's screen is loaded does nothing to the list", async () => {
  const interrupt = vi.fn(async () => undefined);
  let loaded: (others: OtherScreens) => void = () => undefined;
  const load: Load = () =>
    new Promise((resolve) => {
      loaded = resolve;
    });
  const open = vi.fn(() => ({}) as SessionDriver);
  const { app, screen, link } = screenWith({ interrupt, open }, load);
  link("live");
  screen.onInput({ kind: "key", chord: "enter" });
  screen.onInput({ kind: "text", text: "x" });
  loaded({
    openSession: () => () => screen,
    openInbox: () => () => screen,
    openOutside: () => () => screen,
    openSearch: () => () => screen,
  });
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

test("the title counts the pending requests, also while a session is open over the list", async () => {
  const session = { title: () => "fixer", close: async () => undefined } as unknown as Screen;
  const others = {
    openSession: () => () => session,
    openInbox: () => () => session,
    openOutside: () => () => session,
    openSearch: () => () => session,
  };
  const open = vi.fn(() => ({}) as SessionDriver);
  const { app, screen, tell } = screenWith({ open }, async () => others);
  expect(screen.title()).toBe("blemees");
  tell(FLEET);
  expect(screen.title()).toBe("(2) blemees: 2 pending requests");
  screen.onInput({ kind: "key", chord: "enter" });
  await vi.waitFor(() => expect(app.open).toHaveBeenCalledOnce(), PATIENT);
  const [[opener]] = app.open.mock.calls as unknown as [[Opener]];
  expect(opener(app as unknown as App).title()).toBe("(2) fixer");
});

test("y accepts the request that was on the screen for a moment, and says what became of it", async () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  closers.push(() => vi.useRealTimers());
  const respond = vi
    .fn<FleetDriver["respond"]>()
    .mockRejectedValueOnce(new Error("already answered"))
    .mockResolvedValue(undefined);
  const { app, screen, tell } = screenWith({ respond });
  Object.assign(app, { look: { hasColor: false, isAscii: false } });
  const draw = (): string => screen.draw({ columns: 80, rows: 24 }).rows.join("\n");
  /** Drawn, written, and left for a second. */
  const read = async (): Promise<void> => {
    draw();
    await new Promise((resolve) => setImmediate(resolve));
    vi.setSystemTime(Date.now() + 1_000);
  };
  tell(FLEET);
  screen.onInput({ kind: "text", text: "y" });
  expect(respond).not.toHaveBeenCalled();
  await read();
  screen.onInput({ kind: "text", text: "y" });
  screen.onInput({ kind: "text", text: "y" });
  expect(respond).toHaveBeenCalledOnce();
  expect(respond).toHaveBeenCalledWith(aRequest("a"), { decision: "accept" });
  await vi.waitFor(() => expect(draw()).toContain("already answered"), PATIENT);
  await read();
  screen.onInput({ kind: "text", text: "y" });
  await vi.waitFor(() => expect(draw()).toContain("accepted for a"), PATIENT);
});

test("the inbox follows the list, and stops with it", async () => {
  const watched: InboxScreenOptions[] = [];
  const others = {
    openSession: () => () => ({}) as Screen,
    openOutside: () => () => ({}) as Screen,
    openInbox: (options: InboxScreenOptions) => () => {
      watched.push(options);
      return {} as Screen;
    },
    openSearch: () => () => ({}) as Screen,
  };
  const { app, screen, tell } = screenWith({}, async () => others);
  tell(FLEET);
  screen.onInput({ kind: "text", text: "i" });
  await vi.waitFor(() => expect(app.open).toHaveBeenCalledOnce(), PATIENT);
  const [[opener]] = app.open.mock.calls as unknown as [[Opener]];
  opener(app as unknown as App);
  const [options] = watched;
  const listener = vi.fn();
  const stop = options?.watch(listener);
  const changed = fleetOf(aRequest("b"));
  tell(changed);
  expect(listener).toHaveBeenCalledWith(changed);
  stop?.();
  tell(FLEET);
  expect(listener).toHaveBeenCalledOnce();
});
