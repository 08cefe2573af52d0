// npm test: sets up what is missing, then runs the tests. Arguments go to vitest: npm test -- test/store
import { prepare, run } from "./prepare.mjs";

prepare();
run(process.execPath, ["node_modules/vitest/vitest.mjs", "run", ...process.argv.slice(2)]);
