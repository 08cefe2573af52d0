// A directory for one test file, gone when the file is done. Called at the top of a module.
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";

export function tempDir(name: string): string {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), `${name}-`)));
  afterAll(() => rmSync(dir, { recursive: true, force: true, maxRetries: 3 }));
  return dir;
}
