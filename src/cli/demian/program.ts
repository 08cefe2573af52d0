// demian as a process. Tool modules that somebody trusted share it: what they print is talk and never an answer, and what
// they leave running does not keep it alive.
import { Console } from "node:console";
import { runMain } from "../command.ts";
import { ProcessIo } from "./io.ts";
import { main } from "./main.ts";

/** For what is on its way out. */
const GRACE_MS = 500;

/** `program`: what it is called as. `daemonProgram`: blemeesd, for `--daemon`. */
export async function runProgram(program: string, version: string, daemonProgram: string): Promise<void> {
  globalThis.console = new Console({ stdout: process.stderr, stderr: process.stderr });
  const io = new ProcessIo();
  await runMain(
    program,
    () => main(process.argv.slice(2), { program, version, io, daemonProgram }),
    () => io.readerGone(),
  );
  // Fires only where something else keeps the process.
  setTimeout(() => process.exit(), GRACE_MS).unref();
}
