// What every bundle with a terminal screen in it needs, here and in tests.
import { fileURLToPath } from "node:url";

/** Ink imports it for developers of React only, and it is not installed. */
export const SCREEN_ALIAS = {
  "react-devtools-core": fileURLToPath(new URL("./no-devtools.mjs", import.meta.url)),
};
