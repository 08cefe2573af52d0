// Detects what the terminal supports besides cells. A terminal not known to support desktop notifications gets none,
// because it might print an unknown sequence.

import { execFile } from "node:child_process";
import { defined } from "../../base/values.ts";

type Env = Readonly<Record<string, string | undefined>>;

/** `osc9`: iTerm2. `osc777`: rxvt, with a title. `osc99`: kitty. */
export type Desktop = "osc9" | "osc777" | "osc99";

export interface TerminalTraits {
  hasTitle: boolean;
  desktop?: Desktop;
  /** A multiplexer that passes wrapped sequences through. */
  passThrough?: "tmux";
}

/** By the terminal's name: TERM_PROGRAM, TERM, LC_TERMINAL or its XTVERSION reply. */
const KNOWN: readonly (readonly [RegExp, Desktop])[] = [
  [/iterm/i, "osc9"],
  [/ghostty/i, "osc777"],
  [/wezterm/i, "osc777"],
  [/kitty/i, "osc99"],
  [/^foot/i, "osc777"],
];

/** The Linux console and similar terminals misread OSC. */
const WITHOUT_TITLE = /^(linux|vt\d+|cons\d+|dumb|unknown|)$/;

export function detectTraits(env: Env): TerminalTraits {
  const term = env["TERM"] ?? "";
  const hasTitle = !WITHOUT_TITLE.test(term);
  // Inside tmux and screen the environment describes another terminal.
  if (isMultiplexed(env)) return { hasTitle };
  const kitty = env["KITTY_WINDOW_ID"] === undefined ? "" : "kitty";
  const desktop = detectDesktop([env["TERM_PROGRAM"] ?? "", term, kitty, env["LC_TERMINAL"] ?? ""]);
  return { hasTitle, ...defined({ desktop }) };
}

function isMultiplexed(env: Env): boolean {
  return env["TMUX"] !== undefined || env["STY"] !== undefined || /^(tmux|screen)/.test(env["TERM"] ?? "");
}

/** One line each: `allow-passthrough`, TERM and name of the outer terminal. */
export const TMUX_QUESTION = "#{allow-passthrough}\n#{client_termname}\n#{client_termtype}";

/** Requires passthrough and a supported outer terminal. */
export function detectTraitsInTmux(traits: TerminalTraits, answer: string): TerminalTraits {
  const [passes = "", ...names] = answer.split("\n");
  const desktop = detectDesktop(names);
  if (!/^(on|all|1)$/.test(passes.trim()) || desktop === undefined) return traits;
  return { ...traits, desktop, passThrough: "tmux" };
}

function detectDesktop(names: readonly string[]): Desktop | undefined {
  for (const name of names) {
    const found = KNOWN.find(([pattern]) => pattern.test(name));
    if (found !== undefined) return found[1];
  }
  return undefined;
}

const PATIENCE_MS = 2_000;

export function askTmux(): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = execFile(
      "tmux",
      ["display-message", "-p", TMUX_QUESTION],
      { timeout: PATIENCE_MS },
      (error, stdout) => (error === null ? resolve(stdout) : reject(error)),
    );
    child.unref();
  });
}
