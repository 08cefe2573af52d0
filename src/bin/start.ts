// Starts a command-line program. The compile cache must be on before its code is loaded.
import { fileURLToPath } from "node:url";
import { enableCompileCache } from "../base/compile-cache.ts";
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
  enableCompileCache(process.env);
  const program = await load();
  const daemonProgram = fileURLToPath(new URL("./blemeesd.js", url));
  const demianProgram = fileURLToPath(new URL("./demian.js", url));
  await program.start({ name, version, daemonProgram, demianProgram });
}
