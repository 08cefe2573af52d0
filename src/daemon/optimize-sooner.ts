// Lets V8 optimize functions after fewer calls. Its default suits programs that loop; a daemon runs much code, seldom: a
// turn would run unoptimized until the thousandth.
import { setFlagsFromString } from "node:v8";

/** Bytes of bytecode that a function runs before it is optimized; the default is 67,584. */
const BUDGET = 16_000;
/**
 * Later than the compiled code of this start is kept (base/code-cache.ts): V8 refuses code that was compiled with other
 * flags, so the next start would compile everything again. At the start it would also compile more than it saves.
 */
const AFTER_MS = 2_500;

export function optimizeSooner(): void {
  setTimeout(() => setFlagsFromString(`--interrupt-budget=${BUDGET}`), AFTER_MS).unref();
}
