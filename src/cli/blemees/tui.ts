// `sm tui`, `sm attach`, `sm codex-tui`: the terminal UI, loaded only when it is opened.
import { defined } from "../../base/values.ts";
import { RESTART_BACKOFF } from "../../client/backoff.ts";
import { HttpClient } from "../../client/index.ts";
import type { TerminalIo } from "../../tui/index.ts";
import type { BlemeesCommand, BlemeesContext } from "./command.ts";
import { findSession } from "./find.ts";

const NOTES = [
  "It survives restarts of the daemon. Leaving it does not stop any agent. ? shows the keys.",
  "BLEMEES_NOTIFY=off|title|bell|all: how to notify you while you are in another window (default all).",
];

export const TUI: BlemeesCommand = {
  name: "tui",
  usage: "tui [ID]",
  summary: "open the terminal UI: all sessions, or one; watch, answer and write",
  words: [0, 1],
  completes: "session",
  examples: ["tui", "tui fixer"],
  notes: NOTES,
  run: ({ words }, context) => (words[0] === undefined ? showAll(context) : showOne(context, words[0])),
};

export const ATTACH: BlemeesCommand = {
  name: "attach",
  aliases: ["codex-tui"],
  usage: "attach ID",
  summary: "open one session in the terminal UI",
  words: [1, 1],
  completes: "session",
  examples: ["attach fixer"],
  notes: NOTES,
  run: ({ words }, context) => showOne(context, words[0] ?? ""),
};

/** Exits even if a daemon does not answer pending calls. */
const ENDING_MS = 300;

async function showAll(context: BlemeesContext): Promise<number> {
  const { io, screens, drivers, http } = await prepare(context);
  return screens.runFleetScreen({ io, driver: drivers.createFleetDriver(http) }).finally(endSoon);
}

async function showOne(context: BlemeesContext, given: string): Promise<number> {
  const { io, screens, drivers, http } = await prepare(context);
  const { session_id, name, title = name } = await findSession(http, given);
  const called = name ?? title;
  const driver = drivers.createSessionDriver({
    http,
    session_id,
    ...defined({ title: called }),
  });
  return screens.runSessionScreen({ io, driver }).finally(endSoon);
}

/** Ends the process if it does not end by itself after the screen is closed. */
function endSoon(): void {
  setTimeout(() => process.exit(), ENDING_MS).unref();
}

/** Rejects an unsuitable terminal before starting a daemon. */
async function prepare(context: BlemeesContext) {
  const io: TerminalIo = { stdin: process.stdin, stdout: process.stdout, env: context.env };
  const screens = await import("../../tui/index.ts");
  screens.assertTerminal(io);
  const [drivers, found] = await Promise.all([import("../../tui/daemon/index.ts"), context.connect()]);
  // Not the context's client: it writes notes to stderr, which is the screen here.
  const http = new HttpClient({
    socket: found.socket,
    retry: RESTART_BACKOFF,
    expectsDaemon: true,
    ...defined({ session_id: context.self }),
  });
  return { io, screens, drivers, http };
}
