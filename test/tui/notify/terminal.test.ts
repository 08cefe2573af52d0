// What a terminal supports, by its environment.
import { expect, test } from "vitest";
import { detectTraits, detectTraitsInTmux } from "../../../src/tui/notify/terminal.ts";

test("only terminals that are known to show messages get them, each in its own way", () => {
  const desktop = (env: Record<string, string>) => detectTraits(env).desktop;
  expect(desktop({ TERM: "xterm-256color", TERM_PROGRAM: "iTerm.app" })).toBe("osc9");
  expect(desktop({ TERM: "xterm-256color", LC_TERMINAL: "iTerm2" })).toBe("osc9");
  expect(desktop({ TERM: "xterm-ghostty" })).toBe("osc777");
  expect(desktop({ TERM: "xterm-256color", TERM_PROGRAM: "WezTerm" })).toBe("osc777");
  expect(desktop({ TERM: "foot" })).toBe("osc777");
  expect(desktop({ TERM: "xterm-kitty" })).toBe("osc99");
  expect(desktop({ TERM: "xterm-256color", KITTY_WINDOW_ID: "1" })).toBe("osc99");
  expect(desktop({ TERM: "xterm-256color" })).toBeUndefined();
  expect(desktop({ TERM: "xterm-256color", TERM_PROGRAM: "Apple_Terminal" })).toBeUndefined();
  expect(desktop({ TERM: "xterm-256color", WT_SESSION: "1" })).toBeUndefined();
});

test("inside tmux and screen what the environment says of another terminal does not count", () => {
  const outside = { TERM_PROGRAM: "iTerm.app", LC_TERMINAL: "iTerm2", KITTY_WINDOW_ID: "1" };
  for (const inside of [
    { TMUX: "/tmp/x,1,0", TERM: "tmux-256color" },
    { STY: "1.pts", TERM: "screen" },
    { TERM: "screen-256color" },
  ])
    expect(detectTraits({ ...outside, ...inside })).toEqual({ hasTitle: true });
});

test("through tmux messages go only where it lets them pass and the terminal outside shows them", () => {
  const inside = { hasTitle: true };
  expect(detectTraitsInTmux(inside, "on\nxterm-kitty\n\n")).toEqual({
    ...inside,
    desktop: "osc99",
    passThrough: "tmux",
  });
  expect(detectTraitsInTmux(inside, "all\nxterm-256color\niTerm2 3.5\n")).toMatchObject({ desktop: "osc9" });
  for (const answer of ["off\nxterm-kitty\n\n", "on\nxterm-256color\n\n", "", "\n\n"])
    expect(detectTraitsInTmux(inside, answer)).toEqual(inside);
});

test("the console has no title to set", () => {
  for (const TERM of ["linux", "vt100", "dumb", ""]) expect(detectTraits({ TERM }).hasTitle).toBe(false);
});
