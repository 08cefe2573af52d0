// The repository's root. Apart from daemon.ts, so that a test that only reads files stays in the unit lane (test/lanes.ts).
import { fileURLToPath } from "node:url";

export const ROOT = fileURLToPath(new URL("../..", import.meta.url));
