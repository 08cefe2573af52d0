// Loaded into a daemon by a test (`--import`): on SIGUSR2 it collects garbage and writes the remaining memory to the
// file HEAP_PROBE. Agents inherit the environment but not the role.
import { renameSync, writeFileSync } from "node:fs";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

const path = process.env.HEAP_PROBE;
if (path !== undefined && process.argv[1]?.endsWith("blemeesd.js")) {
  setFlagsFromString("--expose-gc");
  const gc = runInNewContext("gc");
  process.on("SIGUSR2", () => {
    gc();
    writeFileSync(`${path}.tmp`, JSON.stringify(process.memoryUsage()));
    renameSync(`${path}.tmp`, path);
  });
}
