import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { resolveCommand } from "../../../src/runtime/permissions/grantable.ts";
import { tempDir } from "../../backends/temp-dir.ts";

const base = tempDir("grantable");
const workspace = join(base, "workspace");
const bin = join(base, "bin");

/** Programs outside the workspace, in place of the real ones. */
function install(...names: string[]): void {
  mkdirSync(bin, { recursive: true });
  for (const name of names) {
    writeFileSync(join(bin, name), "#!/bin/sh\n");
    chmodSync(join(bin, name), 0o755);
  }
}

const resolve = (command: string, isSandboxed = true) =>
  resolveCommand(command, { cwd: workspace, writable: [workspace], path: bin, isSandboxed });

describe("always", () => {
  install("npm", "rg", "git", "find", "sort", "sed", "tar", "frob", "python3.12", "env", "ls", "busybox");

  test.each([
    "npm test",
    "rg x",
    "git status",
    "find . -name x",
    "sort a",
    "sed -n 1,5p a",
    "tar tf a.tar",
    "frob",
  ])("may be offered for `%s`", async (command) => {
    expect(await resolve(command)).toMatchObject({ isGrantable: true });
  });

  test.each([
    ...[
      "rg --pre ./x y",
      "find . -exec ls",
      "find . -delete",
      "sort -o a b",
      "sed -n 1e",
      "sed -i 1p a",
      "sed 1p a",
      "sed -n 1p -f a",
    ],
    ...[
      "git push",
      "git -c a=b status",
      "git diff --output=a",
      "git diff --ext-diff",
      "tar --to-command=x tf a",
      "python3.12 a",
      "env ls",
    ],
    ...["busybox ls", "../bin/frob"],
  ])("may not for `%s`, although it is certain what runs", async (command) => {
    expect(await resolve(command)).toMatchObject({ isGrantable: false });
  });

  test("depends on the target of a link, too", async () => {
    symlinkSync(join(bin, "python3.12"), join(bin, "tool"));
    symlinkSync(join(bin, "busybox"), join(bin, "wc"));
    expect(await resolve("tool x")).toMatchObject({
      isGrantable: false,
      executable: join(bin, "python3.12"),
    });
    expect(await resolve("wc x")).toMatchObject({ isGrantable: true });
  });

  test("a link outside that leads into the workspace is the agent's program", async () => {
    mkdirSync(workspace, { recursive: true });
    writeFileSync(join(workspace, "evil"), "#!/bin/sh\n", { mode: 0o755 });
    symlinkSync(join(workspace, "evil"), join(bin, "linked"));
    expect(await resolve("linked")).toBeUndefined();
  });
});
