// A process that cannot be started because no descriptors are left for its pipes.
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { buildSync } from "esbuild";
import { expect, test } from "vitest";
import { tempDir } from "../backends/temp-dir.ts";
import { ROOT } from "../support/root.ts";

const SCRIPT = `
import { openSync } from "node:fs";
import { startChild } from "./src/base/child.ts";
try {
  for (;;) openSync("/dev/null", "r");
} catch {
  // None is left.
}
const order = { command: "/bin/true", args: [], env: {} };
await startChild(order, { output() {}, errorLine() {} }).then(
  () => console.log("started"),
  (error) => console.log(error.code, error.message),
);
`;

test("without descriptors the start fails with the reason, and the program continues", () => {
  const outfile = join(tempDir("descriptors"), "start.mjs");
  const stdin = { contents: SCRIPT, resolveDir: ROOT, loader: "ts" } as const;
  buildSync({ stdin, outfile, bundle: true, platform: "node", format: "esm", logLevel: "silent" });
  const command = `ulimit -n 64; exec "${process.execPath}" "${outfile}"`;
  const said = execFileSync("/bin/sh", ["-c", command], { encoding: "utf8" });
  expect(said).toMatch(/^spawn_failed .*EMFILE/);
});
