// The door of the terminal UI. Light on purpose: Ink, React and what draws Markdown are loaded when a screen opens.
import { CodedError } from "../base/coded-error.ts";
import { notifyMode } from "./notify/decide.ts";
import type { Opener, TerminalIo } from "./screen-types.ts";
import type { FleetDriver, News, SessionDriver } from "./types.ts";

export type { App, Input, Look, Opener, Screen, Size, TerminalIo } from "./screen-types.ts";
export type {
  DriverCommand,
  FleetDriver,
  News,
  Picker,
  PickerOption,
  SessionDriver,
} from "./types.ts";

export interface ScreenOptions {
  io: TerminalIo;
  /** Told when a person should look although they look elsewhere. */
  notify?: (news: News) => void;
}

/** Shows one session until it is left; gives the exit code. The driver is closed at the end. */
export async function runSessionScreen(options: ScreenOptions & { driver: SessionDriver }): Promise<number> {
  const { io, notify, driver } = options;
  assertTerminal(io);
  const { openApp } = await withoutCi(() => import("./app.tsx"));
  return openApp({ io, first: (await loadSession())(driver), ...(notify && { notify }) });
}

/** Shows all sessions; Enter opens one, Esc comes back. */
export async function runFleetScreen(options: ScreenOptions & { driver: FleetDriver }): Promise<number> {
  const { io, notify, driver } = options;
  assertTerminal(io);
  const { openApp } = await withoutCi(() => import("./app.tsx"));
  const { fleetScreen } = await import("./fleet/screen.tsx");
  return openApp({ io, first: fleetScreen(driver, loadSession), ...(notify && { notify }) });
}

async function loadSession(): Promise<(driver: SessionDriver) => Opener> {
  return (await import("./session/screen.tsx")).sessionScreen;
}

/** A sentence instead of a mess where there is no screen to draw on, or a setting of ours is wrong. */
export function assertTerminal({ stdin, stdout, env }: TerminalIo): void {
  if (!stdin.isTTY || !stdout.isTTY) {
    throw new CodedError(
      "not_a_terminal",
      "the screen needs a terminal for input and output; use `sm tail -f` and `sm send` in scripts and pipes",
    );
  }
  if (env["TERM"] === "dumb") {
    throw new CodedError(
      "not_a_terminal",
      "TERM=dumb cannot show a screen; use `sm tail -f` to look and `sm send` to talk, or set TERM",
    );
  }
  notifyMode(env);
}

/** Ink draws nothing where these are set when it is loaded, and people run screens in such places. */
const HIDDEN_FROM_INK = ["CI", "CONTINUOUS_INTEGRATION", "DEV"];

async function withoutCi<Result>(load: () => Promise<Result>): Promise<Result> {
  const kept = HIDDEN_FROM_INK.map((name) => [name, process.env[name]] as const);
  for (const name of HIDDEN_FROM_INK) delete process.env[name];
  try {
    return await load();
  } finally {
    for (const [name, value] of kept) if (value !== undefined) process.env[name] = value;
  }
}
