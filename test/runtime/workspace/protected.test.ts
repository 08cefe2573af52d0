// What no tool may touch, by name.
import { describe, expect, test } from "vitest";
import { isSecretPath, isWriteProtected } from "../../../src/runtime/workspace/protected.ts";

describe("secrets", () => {
  test.each([
    ".env",
    "./.env",
    ".env.local",
    ".env.production.local",
    "a/b/.env",
    ".env/inner",
    ".ENV",
    ".Env.Local",
    "a//.env/",
    ".e\u200bnv",
    "\uff0eenv",
    ".env.",
    ".env.example.local",
    ".env~",
    ".env.example~",
    ".envrc",
    "a/.envrc.local",
    ".envrc~",
  ])("%j is one", (path) => {
    expect([isSecretPath(path), isWriteProtected(path)]).toEqual([true, true]);
  });

  test.each([
    ".env.example",
    "a/.env.sample",
    ".env.template",
    ".ENV.EXAMPLE",
    "env",
    "x.env",
    ".environment",
    ".envrc.example",
    ".envrcs",
    ".",
    "src/a.ts",
  ])("%j is not secret", (path) => {
    expect(isSecretPath(path)).toBe(false);
  });
});

describe("what may be read but not written", () => {
  test.each([
    ".git/config",
    ".git/hooks/pre-commit",
    ".git",
    "sub/.git/hooks/x",
    ".GIT/hooks/x",
    ".g\u200cit/config",
    ".demian/config.json",
    "sub/.demian/x",
    "node_modules/a/index.js",
    "packages/x/node_modules/a",
  ])("%j", (path) => {
    expect([isSecretPath(path), isWriteProtected(path)]).toEqual([false, true]);
  });

  test.each([
    ".gitignore",
    ".github/workflows/ci.yml",
    ".demianrc",
    "node_modules_x/a",
    "src/a.ts",
    ".env.example",
  ])("%j may be written", (path) => {
    expect(isWriteProtected(path)).toBe(false);
  });
});
