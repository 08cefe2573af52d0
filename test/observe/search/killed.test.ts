// A daemon that is killed with `kill -9` while it indexes: the next one ends with the same index as one that started over.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Bundle, bundleWorker } from "../../store/worker-bundle.ts";
import { IS_CHAOS } from "../../support/sizes.ts";
import { tempDir } from "../material.ts";
import { indexAll } from "./long-history.ts";
import { dump, openSearch } from "./material.ts";

const KILLS = IS_CHAOS ? 40 : 4;

let program: Bundle;
beforeAll(async () => {
  program = await bundleWorker("test/observe/search/long-history.ts");
});
afterAll(() => program.remove());

/** Runs the program until it has done this many steps, and kills it at once. Returns whether it was killed. */
async function runAndKill(path: string, steps: number): Promise<boolean> {
  const child = spawn(process.execPath, [fileURLToPath(program.url), path], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = once(child, "exit");
  for await (const line of createInterface({ input: child.stdout })) {
    if (Number(line) === steps) child.kill("SIGKILL");
  }
  const [, signal] = await exited;
  return signal === "SIGKILL";
}

test("an index whose daemons were killed is equal to a full rebuild", async () => {
  const whole = join(tempDir(), "search.db");
  const search = await openSearch(whole);
  await indexAll(search);
  search.close();
  const path = join(tempDir(), "search.db");
  let killed = 0;
  for (let kill = 0; kill < KILLS; kill += 1) if (await runAndKill(path, 3 + ((kill * 17) % 41))) killed += 1;
  expect(killed).toBeGreaterThan(0);
  const rest = await openSearch(path);
  await indexAll(rest);
  rest.close();
  const rebuilt = await dump(whole);
  expect(rebuilt.words.length).toBeGreaterThan(5_000);
  expect(await dump(path)).toEqual(rebuilt);
});
