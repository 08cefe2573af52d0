// What the notifier writes to the terminal, from the first byte to the last.
import { expect, test } from "vitest";
import { createNotifier, type NotifierOptions } from "../../../src/tui/notify/notifier.ts";
import type { Notification } from "../../../src/tui/types.ts";

const ITERM = { TERM: "xterm-256color", TERM_PROGRAM: "iTerm.app" };
const WAITS: Notification = { kind: "waits", session_id: "s1", text: "fixer waits" };

function notifier(env: Record<string, string>, more: Partial<NotifierOptions> = {}) {
  let written = "";
  const made = createNotifier({
    env,
    write: (text) => {
      written += text;
    },
    ...more,
  });
  const take = (): string => {
    const text = written;
    written = "";
    return text;
  };
  return { ...made, take };
}

test("the previous title is saved and restored, and focus is requested only in between", () => {
  const { start, stop, take } = notifier(ITERM);
  start();
  expect(take()).toBe("\u001b[22;2t\u001b[?1004h");
  stop();
  stop();
  expect(take()).toBe("\u001b[?1004l\u001b[23;2t");
});

test("a title is written when it changes, and again after a stop", () => {
  const { start, stop, title, take } = notifier(ITERM);
  title("before");
  start();
  take();
  title("a");
  title("a");
  expect(take()).toBe("\u001b]2;a\u001b\\");
  stop();
  start();
  take();
  title("a");
  expect(take()).toBe("\u001b]2;a\u001b\\");
});

test("notifications ring and show a message without focus, and do nothing with it", () => {
  const { start, notify: tell, setFocus: focused, take } = notifier(ITERM);
  start();
  focused(true);
  take();
  tell(WAITS);
  expect(take()).toBe("");
  focused(false);
  tell(WAITS);
  expect(take()).toBe("\u0007\u001b]9;blemees: fixer waits\u001b\\");
  tell(WAITS);
  expect(take()).toBe("");
});

test("nothing is written outside start and stop, and nothing at all when it is off", () => {
  const on = notifier(ITERM);
  on.notify(WAITS);
  expect(on.take()).toBe("");
  const off = notifier({ ...ITERM, BLEMEES_NOTIFY: "off" });
  off.start();
  off.title("x");
  off.notify(WAITS);
  off.stop();
  expect(off.take()).toBe("");
});

test("with `title` there is no bell and no focus query", () => {
  const { start, title, notify: tell, take } = notifier({ ...ITERM, BLEMEES_NOTIFY: "title" });
  start();
  title("x");
  tell(WAITS);
  expect(take()).toBe("\u001b[22;2t\u001b]2;x\u001b\\");
});

test("inside tmux only the bell rings, until tmux says that messages pass", async () => {
  const env = { TERM: "tmux-256color", TMUX: "/tmp/t,1,0" };
  const silent = notifier(env);
  silent.start();
  silent.take();
  silent.notify(WAITS);
  expect(silent.take()).toBe("\u0007");
  const answer = Promise.resolve("on\nxterm-kitty\n\n");
  const asked = notifier(env, { askTmux: () => answer });
  await answer;
  asked.start();
  asked.take();
  asked.notify(WAITS);
  expect(asked.take()).toContain("\u0007\u001bPtmux;\u001b\u001b]99;");
});
