// blemees: alone it is the screen of all sessions; with a command it does what `sm` does with it.
import { type MainOptions, main as smMain } from "../sm/main.ts";

export function main(
  argv: readonly string[],
  options: Omit<MainOptions, "program" | "alone">,
): Promise<number> {
  return smMain(argv, { ...options, program: "blemees", alone: "tui" });
}
