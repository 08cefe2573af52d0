// The gate uses the same random inputs each time: failures are repeatable on every machine, and an unrelated change is
// not blocked by an unlucky seed. `npm run chaos` uses new ones.
import fc from "fast-check";
import { IS_CHAOS } from "./sizes.ts";

if (!IS_CHAOS) fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: 20_261_118 });
