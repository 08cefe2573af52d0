// The arguments and profiles of the adapters; order matters in both.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { buildBwrapArguments } from "../../../src/runtime/sandbox/bwrap.ts";
import { findProtected, isWithin } from "../../../src/runtime/sandbox/protected-paths.ts";
import { buildSeatbeltProfile } from "../../../src/runtime/sandbox/seatbelt.ts";
import { Tree } from "../../../src/runtime/sandbox/tree.ts";

const protectedPaths = {
  maskedFiles: ["/home/me/project/.env"],
  maskedDirectories: [],
  readOnly: ["/home/me/project/.git"],
  writable: [],
};
const bounds = { root: "/home/me/project", isWritable: true, isNetworkDenied: false, protectedPaths };

describe("bubblewrap", () => {
  const profile = {
    ...bounds,
    hasUserNamespace: true,
    hidden: [],
    kernelFiles: ["/proc/sys"],
    cwd: "/home/me/project",
    unset: [],
  };
  const line = (more: object = {}): string => buildBwrapArguments({ ...profile, ...more }).join(" ");

  test("everything is read-only before the workspace is writable, and its protected parts come after it", () => {
    const text = line({ hidden: [{ path: "/home/me/.local/state/demian", kind: "directory" }] });
    const order = [
      "--ro-bind / /",
      "--ro-bind /proc/sys /proc/sys",
      "--tmpfs /tmp",
      "--bind /home/me/project /home/me/project",
      "--ro-bind /home/me/project/.git /home/me/project/.git",
      "--ro-bind /dev/null /home/me/project/.env",
      "--tmpfs /home/me/.local/state/demian --remount-ro /home/me/.local/state/demian",
      "--cap-drop ALL",
      "--seccomp 3",
    ].map((part) => text.indexOf(part));
    expect(order).not.toContain(-1);
    expect(order).toEqual([...order].sort((a, b) => a - b));
  });

  test("the home directory is emptied before anything is put in, and closed at the end", () => {
    const home = {
      ...{
        path: "/home/me",
        readable: ["/home/me/.nvm"],
        shared: ["/home/me/.cache/x"],
        masked: [],
        env: {},
      },
      caches: [{ source: "/state/cache", target: "/home/me/.cache" }],
    };
    const text = line({ homes: [home], readable: ["/home/me/notes"], writable: ["/home/me/out"] });
    const order = [
      "--tmpfs /tmp",
      "--tmpfs /home/me",
      "--ro-bind-try /home/me/.nvm /home/me/.nvm",
      "--bind-try /state/cache /home/me/.cache",
      "--ro-bind-try /home/me/.cache/x /home/me/.cache/x",
      "--ro-bind /home/me/notes /home/me/notes",
      "--bind /home/me/out /home/me/out",
      "--bind /home/me/project /home/me/project",
      "--ro-bind /home/me/project/.git",
      "--remount-ro /home/me ",
    ].map((part) => text.indexOf(part));
    expect(order).not.toContain(-1);
    expect(order).toEqual([...order].sort((a, b) => a - b));
  });

  test("a read-only workspace is never bound writable", () => {
    expect(line({ isWritable: false })).not.toMatch(/--bind /);
    expect(line({ isWritable: false })).toContain("--ro-bind /home/me/project /home/me/project");
  });

  test("the network is cut off only when it is denied", () => {
    expect(line()).not.toContain("--unshare-net");
    expect(line({ isNetworkDenied: true })).toContain("--unshare-net");
  });

  test("a hidden directory around the workspace is emptied first, and the workspace put back", () => {
    const text = line({ hidden: [{ path: "/home/me", kind: "directory" }] });
    expect(text.indexOf("--tmpfs /home/me ")).toBeLessThan(text.indexOf("--bind /home/me/project"));
    expect(text.indexOf("--ro-bind /dev/null")).toBeLessThan(text.indexOf("--remount-ro /home/me "));
  });
});

describe("sandbox-exec", () => {
  const profile = { ...bounds, hidden: [], temporary: ["/private/tmp"] };

  test("writes are denied, then allowed in the workspace, then denied in its protected parts", () => {
    const hidden = [{ path: "/Users/me/state", kind: "directory" as const }];
    expect(buildSeatbeltProfile({ ...profile, hidden }).split("\n")).toEqual([
      "(version 1)",
      "(allow default)",
      "(deny file-write*)",
      expect.stringMatching(
        /^\(allow file-write\* \(subpath "\/private\/tmp"\) \(subpath "\/home\/me\/project"\) /,
      ),
      '(deny file-write* (subpath "/home/me/project/.git"))',
      '(deny file-read* file-write* (subpath "/Users/me/state") (literal "/home/me/project/.env"))',
      "(deny signal)",
      "(allow signal (target same-sandbox))",
      "(deny appleevent-send)",
      "(deny lsopen)",
      "(deny network-outbound (remote unix-socket))",
      "",
    ]);
  });

  test("the home directory is closed, then its programs and the workspace are opened", () => {
    const home = {
      ...{
        path: "/Users/me",
        readable: ["/Users/me/.nvm"],
        shared: ["/Users/me/go/pkg"],
        caches: [],
        env: {},
      },
      masked: ["/Users/me/mono/.env"],
    };
    const root = "/Users/me/mono/a";
    const lines = buildSeatbeltProfile({
      ...profile,
      root,
      homes: [home],
      readable: ["/Users/me/notes"],
    }).split("\n");
    expect(lines.slice(1, 5)).toEqual([
      "(allow default)",
      '(deny file-read* (subpath "/Users/me"))',
      '(allow file-read-metadata (subpath "/Users/me"))',
      '(allow file-read* (subpath "/Users/me/mono/a") (subpath "/Users/me/notes") (subpath "/Users/me/.nvm") (subpath "/Users/me/go/pkg"))',
    ]);
    expect(lines.find((line) => line.startsWith("(deny file-read* file-write*"))).toContain(
      "/Users/me/mono/.env",
    );
  });

  test("read-only and no network are said, and a name cannot end its string", () => {
    const root = '/Users/me/a") (allow default) ("';
    const text = buildSeatbeltProfile({ ...profile, root, isWritable: false, isNetworkDenied: true });
    expect(text).not.toContain("/Users/me/a");
    expect(text).toContain("(deny network*)");
    expect(buildSeatbeltProfile({ ...profile, root })).toContain(
      '(subpath "/Users/me/a\\") (allow default) (\\"")',
    );
  });
});

describe("the protected paths of a workspace", () => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "demian-places-")));
  const at = (path: string): string => join(root, path);

  beforeAll(() => {
    for (const path of [
      "a/b",
      "node_modules/x",
      ".git/hooks",
      ".git/info",
      ".demian",
      "sub",
      "venv/.env",
      "secrets",
    ]) {
      mkdirSync(at(path), { recursive: true });
    }
    const files = [
      ".env",
      "a/b/.env.production",
      "a/.env.example",
      "node_modules/x/.env",
      ".git/config",
      "sub/.git",
      "secrets/real",
    ];
    for (const path of files) writeFileSync(at(path), "x");
    symlinkSync("../secrets/real", at("a/.env"));
    symlinkSync("/proc/self/environ", at("a/b/.env"));
    symlinkSync("/", at("sub/.env"));
    symlinkSync("nowhere", at("sub/.env.local"));
  });

  afterAll(() => rmSync(root, { recursive: true, force: true }));

  test("environment files at any depth, links followed, and nothing that cannot be masked", async () => {
    const { maskedFiles, maskedDirectories } = await findProtected(new Tree(root), false);
    expect(maskedFiles.sort()).toEqual(
      [".env", "a/b/.env.production", "node_modules/x/.env", "secrets/real"].map(at).sort(),
    );
    expect(maskedDirectories).toEqual([at("venv/.env")]);
  });

  test("git and demian are read-only, also the file of a worktree", async () => {
    const { readOnly, writable } = await findProtected(new Tree(root), false);
    expect(readOnly.sort()).toEqual([".demian", ".git", "sub/.git"].map(at));
    expect(writable).toEqual([]);
  });

  test("of a writable git the parts that run code are not", async () => {
    const { readOnly, writable } = await findProtected(new Tree(root), true);
    expect(readOnly.sort()).toEqual([".demian", ".git/config", ".git/hooks", "sub/.git"].map(at));
    expect(writable).toEqual([at(".git")]);
  });
});

test.each([
  ["/a", "/a", true],
  ["/a", "/a/b", true],
  ["/a", "/a-evil", false],
  ["/a/b", "/a", false],
  ["/a", "/a/..b", true],
  ["/", "/a", true],
])("whether %s holds %s: %s", (parent, path, expected) => {
  expect(isWithin(parent, path)).toBe(expected);
});
