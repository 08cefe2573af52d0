// Public entry of the terminal UI. The screens, with Markdown and highlighting, are loaded when they open.
import { CodedError } from "../base/coded-error.ts";
import { defined } from "../base/values.ts";
import { runApp } from "./app.ts";
import type { OtherScreens } from "./fleet/screen.ts";
import { notifyMode } from "./notify/decide.ts";
import type { Opener, TerminalIo } from "./screen-types.ts";
import type { FleetDriver, Notification, SessionDriver } from "./types.ts";

export type { App, Input, Look, Opener, Screen, Size, TerminalIo } from "./screen-types.ts";
export type {
  DriverCommand,
  FleetDriver,
  Notification,
  Picker,
  PickerOption,
  SessionDriver,
} from "./types.ts";

export interface ScreenOptions {
  io: TerminalIo;
  /** Called when something needs the user's attention. */
  notify?: (news: Notification) => void;
}

/** Shows one session until the user leaves; closes the driver and returns the exit code. */
export async function runSessionScreen(options: ScreenOptions & { driver: SessionDriver }): Promise<number> {
  const { io, notify, driver } = options;
  assertTerminal(io);
  return runApp({ io, first: (await loadSession())(driver), ...defined({ notify }) });
}

/** Shows all sessions; Enter opens one, Esc returns. */
export async function runFleetScreen(options: ScreenOptions & { driver: FleetDriver }): Promise<number> {
  const { io, notify, driver } = options;
  assertTerminal(io);
  const { createFleetScreen } = await import("./fleet/screen.ts");
  return runApp({ io, first: createFleetScreen(driver, loadOthers), ...defined({ notify }) });
}

async function loadOthers(): Promise<OtherScreens> {
  const [openSession, inbox, outside, search] = await Promise.all([
    loadSession(),
    import("./inbox/screen.ts"),
    import("./outside/screen.ts"),
    import("./search/screen.ts"),
  ]);
  return {
    openSession,
    openInbox: inbox.createInboxScreen,
    openOutside: outside.createOutsideScreen,
    openSearch: search.createSearchScreen,
  };
}

async function loadSession(): Promise<(driver: SessionDriver) => Opener> {
  return (await import("./session/screen.ts")).createSessionScreen;
}

/** Throws if there is no usable terminal or BLEMEES_NOTIFY is invalid. */
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
      "TERM=dumb cannot show a screen; set TERM, or use `sm tail -f` and `sm send`",
    );
  }
  notifyMode(env);
}
