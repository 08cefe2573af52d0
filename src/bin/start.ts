// Starts a command-line program. Its version is known without loading it.
import { fileURLToPath } from "node:url";
import { VERSION as version } from "../version.ts";

interface StartOptions {
  name: string;
  version: string;
  daemonProgram: string;
  demianProgram: string;
}

/** `url`: the started script; the other programs are next to it. */
export async function start(
  name: string,
  url: string,
  load: () => Promise<{ start(options: StartOptions): Promise<void> }>,
): Promise<void> {
  if (answerVersion(name, process.argv.slice(2))) return;
  const program = await load();
  const daemonProgram = fileURLToPath(new URL("./blemeesd.js", url));
  const demianProgram = fileURLToPath(new URL("./demian.js", url));
  await program.start({ name, version, daemonProgram, demianProgram });
}

/** Answers `--version` alone. With anything else beside it, the program decides what that means. */
export function answerVersion(name: string, argv: readonly string[]): boolean {
  if (argv.length !== 1 || argv[0] !== "--version") return false;
  process.stdout.write(`${name} ${version}\n`);
  return true;
}
