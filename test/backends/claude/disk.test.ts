// Which files are shown around an edit: small texts, and nothing that could block.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { DISK } from "../../../src/backends/claude/disk.ts";

const dir = mkdtempSync(join(tmpdir(), "disk-"));
afterAll(() => rmSync(dir, { recursive: true }));

function file(name: string, content: string | Uint8Array): string {
  writeFileSync(join(dir, name), content);
  return join(dir, name);
}

test("a small text file is read, and nothing else", () => {
  expect(DISK.readText(file("text", "a\n"))).toBe("a\n");
  expect(DISK.readText(file("large", "a".repeat(600 * 1024)))).toBeUndefined();
  expect(DISK.readText(file("binary", "a\0b"))).toBeUndefined();
  expect(DISK.readText(file("latin1", Uint8Array.of(0x61, 0xe4)))).toBeUndefined();
  expect(DISK.readText(join(dir, "missing"))).toBeUndefined();
  expect(DISK.readText(dir)).toBeUndefined();
  // Endless.
  expect(DISK.readText("/dev/zero")).toBeUndefined();
});
