// Places in the repository. Apart from daemon.ts, so that a test that only reads files stays in the unit lane (test/lanes.ts).
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = fileURLToPath(new URL("../..", import.meta.url));
/** XDG_CACHE_HOME of the programs that tests start. Shared: otherwise each compiles its code, and keeps it for nothing. */
export const CACHE_HOME = join(ROOT, "node_modules/.cache/tests");
