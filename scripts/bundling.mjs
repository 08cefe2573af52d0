// What every bundle with a terminal screen in it needs, here and in tests.
import { fileURLToPath } from "node:url";

const none = fileURLToPath(new URL("./no-devtools.mjs", import.meta.url));

/** Ink imports these for developers of React only: one is not installed, and nothing else here uses the other. */
export const SCREEN_ALIAS = { "react-devtools-core": none, ws: none };
