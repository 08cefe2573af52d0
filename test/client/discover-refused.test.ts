// The message when connecting is not permitted: it depends on the socket's owner.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { explainConnectError } from "../../src/client/discover.ts";

let directory: string;
let path: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "blemees-refused-"));
  path = join(directory, "blemeesd.sock");
  writeFileSync(path, "");
});
afterEach(() => {
  vi.restoreAllMocks();
  rmSync(directory, { recursive: true });
});

const explain = (at: string, code: string) =>
  explainConnectError(at, Object.assign(new Error("connect"), { code }));

test.each(["EACCES", "EPERM"])("a socket of our own (%s): a sandbox forbids it", (code) => {
  const { code: told, message } = explain(path, code);
  expect(told).toBe("not_allowed");
  expect(message).toContain("although you own it");
  expect(message).not.toContain("another user");
});

test("a socket of another user is reported as such", () => {
  const own = process.getuid?.() ?? 0;
  vi.spyOn(process, "getuid").mockReturnValue(own + 1);
  expect(explain(path, "EACCES").message).toMatch(/belongs to another user; set BLEMEESD_SOCKET to yours$/);
});

test("the owner of a socket that cannot be read is unknown", () => {
  const { message } = explain(join(directory, "missing", "blemeesd.sock"), "EACCES");
  expect(message).toContain("a parent directory or a sandbox denies access");
  expect(message).not.toContain("another user");
});

test("a daemon that stops listening before it accepts us went away: the request may be repeated", () => {
  expect(explain(path, "ECONNRESET")).toMatchObject({
    code: "connection_lost",
    message: `the daemon at ${path} closed the connection`,
  });
});
