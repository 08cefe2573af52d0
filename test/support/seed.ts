// The gate tries the same random inputs each time: what it finds is found again on the next machine, and a change that
// is innocent is not stopped by somebody else's bad luck. `npm run chaos` tries new ones.
import fc from "fast-check";
import { IS_CHAOS } from "./sizes.ts";

if (!IS_CHAOS) fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: 20_261_118 });
