// The list and the inbox of the terminal UI with very many sessions and requests: the CPU time from a key to the bytes for
// the terminal, with the change of a session, so that other work on the machine does not count. Without a daemon, whose part
// `http` and `ui` measure.
import { bundle } from "../bundle.mjs";
import { quantile } from "../rounds.mjs";
import { aFleet, changeSession } from "../ui/many-sessions.mjs";

const SESSIONS = 1_000;
const REQUESTS = 200;
const SIZE = { columns: 120, rows: 40 };
const ROUNDS = 5;
/** Text is typed one character at a time; longer words are chords. */
const LIST_KEYS = [
  ...["j", "j", "pagedown", "w", "w", "G", "k", "g", "p", "j", "G", "p", "o", "j", "o", "h", "h"],
  ...["f", "f", "f", "f", "f", "/", ..."agent 7", "enter", "escape", "/", ..."is:failed #ui", "escape"],
];
const INBOX_KEYS = ["j", "j", "pagedown", "d", "d", "k", "tab", "y", "j", "y", "G"];

/** @param {import("../plan.mjs").Context} context */
export async function fleet({ bench, progress }) {
  progress(`${SESSIONS} sessions, ${REQUESTS} requests`);
  const parts = await bundle(bench, ["tui/fleet/screen.ts", "tui/inbox/screen.ts", "tui/paint.ts"]);
  const list = [];
  const inbox = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    list.push(...pressKeys(parts, LIST_KEYS, "list"));
    inbox.push(...pressKeys(parts, INBOX_KEYS, "inbox"));
  }
  const what = `of ${SESSIONS} sessions, ${REQUESTS} requests`;
  return [
    row("fleet.list", `TUI: CPU of a key in the list ${what}, p99`, quantile(list, 0.99)),
    row("fleet.inbox", `TUI: CPU of a key in the inbox ${what}, p99`, quantile(inbox, 0.99)),
  ];
}

function cpuMs() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/**
 * @param {string} id
 * @param {string} measure
 * @param {number} value
 */
function row(id, measure, value) {
  return { id, measure, store: "", unit: "ms", value };
}

/**
 * The times of the keys in ms, each with the change of a session that comes with it.
 * @param {any} parts
 * @param {readonly string[]} keys
 * @param {"list" | "inbox"} where
 */
function pressKeys({ createFleetScreen, createInboxScreen, paint }, keys, where) {
  let state = aFleet(SESSIONS, REQUESTS);
  /** @type {(fleet: object) => void} */
  let tell = () => undefined;
  const driver = {
    start: (/** @type {typeof tell} */ listener) => {
      tell = listener;
    },
    respond: () => new Promise(() => undefined),
    wholeRequest: () => new Promise(() => undefined),
    close: async () => undefined,
  };
  const look = { hasColor: true, isAscii: false };
  const app = { look, size: () => SIZE, redraw: () => undefined, notify: () => undefined };
  const list = createFleetScreen(driver, () => new Promise(() => undefined))(app);
  tell(state);
  /** @type {Set<typeof tell>} */
  const watchers = new Set();
  const screen =
    where === "list"
      ? list
      : createInboxScreen({
          ...{ driver, fleet: state, openSession: () => undefined },
          watch: (/** @type {typeof tell} */ watcher) => {
            watchers.add(watcher);
            return () => watchers.delete(watcher);
          },
        })(app);
  const times = [];
  let frame = screen.draw(SIZE);
  for (const [at, key] of keys.entries()) {
    state = changeSession(state, at);
    const input = [...key].length === 1 ? { kind: "text", text: key } : { kind: "key", chord: key };
    const before = cpuMs();
    tell(state);
    for (const watcher of watchers) watcher(state);
    screen.onInput(input);
    const next = screen.draw(SIZE);
    paint(frame, next);
    times.push(cpuMs() - before);
    frame = next;
  }
  void screen.close();
  void list.close();
  return times;
}
