// npm run check: everything a change must pass: format and lint, types, generated files, tests. `--no-tests` leaves out
// the tests (CI has just run them).
import { prepare, run } from "./prepare.mjs";

prepare();
const steps = [
  [
    "format and lint",
    process.execPath,
    ["node_modules/@biomejs/biome/bin/biome", "check", "--error-on-warnings", "."],
  ],
  ["types", process.execPath, ["node_modules/typescript/bin/tsc", "-p", "."]],
  ["types of the dashboard", process.execPath, ["node_modules/typescript/bin/tsc", "-p", "web"]],
  ["generated files", process.execPath, ["scripts/docs.mjs", "--check"]],
  ...(process.argv.includes("--no-tests") ? [] : [["tests", process.execPath, ["scripts/test.mjs"]]]),
];
for (const [name, command, args] of steps) {
  console.error(`· ${name} …`);
  run(command, args);
}
console.error("✓ all checks passed");
