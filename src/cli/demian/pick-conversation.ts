// Asks which conversation to continue: a list on the screen, or numbered lines in the plain chat.
import { sanitizeLine } from "../../base/sanitize.ts";
import type { PickerOption } from "../../tui/types.ts";
import { truncate } from "../bar.ts";
import type { DemianContext } from "./command.ts";
import type { Screen } from "./screen.ts";
import { Terminal } from "./terminal.ts";

type Pick = (options: readonly PickerOption[]) => Promise<string | undefined>;

const TITLE = "continue which conversation?";
/** Older ones are found by name or id. */
const MAX_LINES = 20;

export function createConversationPicker({ io }: DemianContext, screen: Screen, isScreen: boolean): Pick {
  if (!isScreen) return (options) => askByNumber(options, io, screen);
  return async (options) => {
    const { runPickerScreen } = await import("../../tui/picker/screen.ts");
    return runPickerScreen({
      io: { stdin: process.stdin, stdout: process.stdout, env: io.env },
      title: TITLE,
      options,
    });
  };
}

async function askByNumber(
  options: readonly PickerOption[],
  { stdin, stderr, env }: DemianContext["io"],
  screen: Screen,
): Promise<string | undefined> {
  const shown = options.slice(0, MAX_LINES);
  for (const [index, { label, detail = "", problem }] of shown.entries()) {
    const line = `${String(index + 1).padStart(2)}  ${sanitizeLine(label)}  (${sanitizeLine(problem ?? detail)})`;
    screen.say(truncate(line, screen.columns - 1));
  }
  if (options.length > shown.length) screen.note(`· ${options.length - shown.length} more: demian sessions`);
  const terminal = new Terminal({ input: stdin, output: stderr, screen, env });
  try {
    for (;;) {
      const said = await terminal.ask({ prompt: "number [1]: ", isFresh: true });
      if (said.kind !== "line") return undefined;
      const chosen = shown[said.text.trim() === "" ? 0 : Number(said.text) - 1];
      if (chosen !== undefined) return chosen.value;
      screen.error(`✗ a number from 1 to ${shown.length}, or Ctrl-D`);
    }
  } finally {
    terminal.close();
  }
}
