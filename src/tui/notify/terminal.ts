// What the terminal we run in can show beside its cells, as far as the environment tells. Where it is not known to show
// a message it gets none: an unknown sequence may end up as letters on the screen.

type Env = Readonly<Record<string, string | undefined>>;

/** `osc9`: iTerm2's message. `osc777`: rxvt's, with a title. `osc99`: kitty's. */
export type Desktop = "osc9" | "osc777" | "osc99";

export interface TerminalTraits {
  hasTitle: boolean;
  desktop?: Desktop;
  /** A terminal in between, that hands on what is wrapped for it. */
  passThrough?: "tmux";
}

/** By what a terminal calls itself: TERM_PROGRAM, TERM, LC_TERMINAL, or its answer to XTVERSION. */
const KNOWN: readonly (readonly [RegExp, Desktop])[] = [
  [/iterm/i, "osc9"],
  [/ghostty/i, "osc777"],
  [/wezterm/i, "osc777"],
  [/kitty/i, "osc99"],
  [/^foot/i, "osc777"],
];

/** The Linux console and its like take `OSC` for something else. */
const WITHOUT_TITLE = /^(linux|vt\d+|cons\d+|dumb|unknown|)$/;

export function terminalTraits(env: Env): TerminalTraits {
  const term = env["TERM"] ?? "";
  const hasTitle = !WITHOUT_TITLE.test(term);
  // Inside tmux and screen what stands in the environment is about another terminal.
  if (isMultiplexed(env)) return { hasTitle };
  const kitty = env["KITTY_WINDOW_ID"] === undefined ? "" : "kitty";
  const desktop = desktopOf([env["TERM_PROGRAM"] ?? "", term, kitty, env["LC_TERMINAL"] ?? ""]);
  return { hasTitle, ...(desktop === undefined ? {} : { desktop }) };
}

function isMultiplexed(env: Env): boolean {
  return env["TMUX"] !== undefined || env["STY"] !== undefined || /^(tmux|screen)/.test(env["TERM"] ?? "");
}

/** What tmux says of the terminal outside of it, one fact a line: `allow-passthrough`, its TERM, its own name. */
export const TMUX_QUESTION = "#{allow-passthrough}\n#{client_termname}\n#{client_termtype}";

/** Only where tmux hands messages on, and the terminal outside of it is known to show them. */
export function traitsInTmux(traits: TerminalTraits, answer: string): TerminalTraits {
  const [passes = "", ...names] = answer.split("\n");
  const desktop = desktopOf(names);
  if (!/^(on|all|1)$/.test(passes.trim()) || desktop === undefined) return traits;
  return { ...traits, desktop, passThrough: "tmux" };
}

function desktopOf(names: readonly string[]): Desktop | undefined {
  for (const name of names) {
    const found = KNOWN.find(([pattern]) => pattern.test(name));
    if (found !== undefined) return found[1];
  }
  return undefined;
}
