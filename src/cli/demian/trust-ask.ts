// Asks one yes-or-no question at the terminal. Anything but a typed yes is no.
import type { DemianContext } from "./command.ts";
import { Screen } from "./screen.ts";
import { Terminal } from "./terminal.ts";

export async function askYes(prompt: string, { io }: DemianContext): Promise<boolean> {
  const { stdin, stdout, stderr, env, isShared } = io;
  const screen = new Screen({ stdout, stderr, env, isShared });
  const terminal = new Terminal({ input: stdin, output: stderr, screen, env });
  try {
    const said = await terminal.ask({ prompt, isFresh: true });
    return said.kind === "line" && /^y(es)?$/i.test(said.text.trim());
  } finally {
    terminal.close();
  }
}
