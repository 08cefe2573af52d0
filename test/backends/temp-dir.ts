// A directory that is gone with the test that made it; made outside a test, with the test file. Helpers call it for each
// test and never at import: the files of a worker share their modules (vitest.config.ts).
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, onTestFinished, TestRunner } from "vitest";

export function tempDir(name: string): string {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), `${name}-`)));
  const remove = () => rmSync(dir, { recursive: true, force: true, maxRetries: 3 });
  if (TestRunner.getCurrentTest() === undefined) afterAll(remove);
  else onTestFinished(remove);
  return dir;
}
