// `sm tui`, `sm attach`, `sm codex-tui`: the screens of the terminal. What draws is loaded only here, when it is needed.
import { HttpClient } from "../../client/index.ts";
import type { TerminalIo } from "../../tui/index.ts";
import type { Command, Context } from "./command.ts";
import { findSession } from "./find.ts";

const NOTES = [
  "It stays over a restart of the daemon and goes on where it was; leaving it stops no agent. ? shows the keys.",
  "BLEMEES_NOTIFY=off|title|bell|all: how you are told that something waits while you look elsewhere (default all).",
];

export const TUI: Command = {
  name: "tui",
  usage: "tui [ID]",
  summary: "all sessions on one screen: see who works, who waits for you, and answer; with ID that session",
  words: [0, 1],
  completes: "session",
  examples: ["tui", "tui fixer"],
  notes: NOTES,
  run: ({ words }, context) => (words[0] === undefined ? showAll(context) : showOne(context, words[0])),
};

export const ATTACH: Command = {
  name: "attach",
  aliases: ["codex-tui"],
  usage: "attach ID",
  summary: "one session on a screen: its events, what it asks, and a line to write to it",
  words: [1, 1],
  completes: "session",
  examples: ["attach fixer"],
  notes: NOTES,
  run: ({ words }, context) => showOne(context, words[0] ?? ""),
};

/** What is still under way to a daemon that does not answer must not keep anybody from their shell. */
const ENDING_MS = 300;

async function showAll(context: Context): Promise<number> {
  const { io, screens, drivers, http } = await prepare(context);
  return screens.runFleetScreen({ io, driver: drivers.createFleetDriver(http) }).finally(endSoon);
}

async function showOne(context: Context, given: string): Promise<number> {
  const { io, screens, drivers, http } = await prepare(context);
  const { session_id, name, title = name } = await findSession(http, given);
  const called = name ?? title;
  const driver = drivers.createSessionDriver({
    http,
    session_id,
    ...(called === undefined ? {} : { title: called }),
  });
  return screens.runSessionScreen({ io, driver }).finally(endSoon);
}

/** The screen is closed: the process ends by itself, or else by this. */
function endSoon(): void {
  setTimeout(() => process.exit(), ENDING_MS).unref();
}

/** A terminal that cannot show it is told before a daemon is started for it. */
async function prepare(context: Context) {
  const io: TerminalIo = { stdin: process.stdin, stdout: process.stdout, env: context.env };
  const screens = await import("../../tui/index.ts");
  screens.assertTerminal(io);
  const [drivers, found] = await Promise.all([import("../../tui/daemon/index.ts"), context.connect()]);
  // The client of the other commands talks on stderr, which is the screen here.
  const caller = context.self === undefined ? {} : { session_id: context.self };
  return { io, screens, drivers, http: new HttpClient({ socket: found.socket, ...caller }) };
}
