// The demian process. Trusted tool modules run in it: what they print goes to stderr, never into an answer, and what they
// leave running does not keep the process alive.
import { Console } from "node:console";
import { runMain } from "../program.ts";
import { ProcessIo } from "./io.ts";
import { main } from "./main.ts";

/** Time for pending output. */
const GRACE_MS = 500;

/** `name`: the name it was started by. `daemonProgram`: path of blemeesd, for `--daemon`. */
export async function start(options: {
  name: string;
  version: string;
  daemonProgram: string;
}): Promise<void> {
  const { name: program, version, daemonProgram } = options;
  globalThis.console = new Console({ stdout: process.stderr, stderr: process.stderr });
  const io = new ProcessIo();
  await runMain(
    program,
    () => main(process.argv.slice(2), { program, version, io, daemonProgram }),
    () => io.readerGone(),
  );
  // Fires only if something else keeps the process alive.
  setTimeout(() => process.exit(), GRACE_MS).unref();
}
