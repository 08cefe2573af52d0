// What is found in a workspace before a command, also when the same tree is searched again.
import {
  chmodSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Tree } from "../../../src/runtime/sandbox/tree.ts";

let root: string;
const at = (path: string): string => join(root, path);
const isRoot = process.getuid?.() === 0;
const write = (path: string): void => {
  mkdirSync(dirname(at(path)), { recursive: true });
  writeFileSync(at(path), "x");
};

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "demian-tree-")));
  vi.useFakeTimers({ toFake: ["Date"] });
});

afterEach(() => {
  vi.useRealTimers();
  rmSync(root, { recursive: true, force: true });
});

test("environment files and git directories are found wherever they are", async () => {
  for (const path of [
    ".env",
    "a/.env.local",
    "node_modules/x/.env",
    ".git/.env",
    "a/.git/config",
    "a/.env.example",
  ])
    write(path);
  const { secrets, gits } = await new Tree(root).search();
  expect(secrets.sort()).toEqual([".env", ".git/.env", "a/.env.local", "node_modules/x/.env"].map(at).sort());
  expect(gits.sort()).toEqual([".git", "a/.git"].map(at));
});

test("what is known for long is found again, and what changed since then as well", async () => {
  write("a/b/.env");
  const tree = new Tree(root);
  vi.setSystemTime(Date.now() + 60_000);
  for (const _ of [1, 2]) expect((await tree.search()).secrets).toEqual([at("a/b/.env")]);
  write("a/c/.env.new");
  renameSync(at("a/b"), at("moved"));
  // Times that were set back mean nothing.
  for (const path of [".", "a", "moved"]) utimesSync(at(path), 1, 1);
  expect((await tree.search()).secrets.sort()).toEqual([at("a/c/.env.new"), at("moved/.env")]);
});

test("a directory that has just changed is listed again: two changes may carry the same time", async () => {
  const tree = new Tree(root);
  for (let count = 1; count <= 100; count += 1) {
    await tree.search();
    write(`.env.${count}`);
    expect((await tree.search()).secrets).toHaveLength(count);
  }
});

test.skipIf(isRoot)("a directory that cannot be looked into is treated as a secret", async () => {
  for (const [name, mode] of [
    ["a", 0o311],
    ["b", 0o444],
    ["c", 0o000],
  ] as const) {
    write(`${name}/.env`);
    chmodSync(at(name), mode);
  }
  const { secrets } = await new Tree(root).search();
  for (const name of ["a", "b", "c"]) chmodSync(at(name), 0o755);
  expect(secrets.sort()).toEqual(["a", "b", "c"].map(at));
});

test("other names of an environment file are found, also new ones and those of a link's target", async () => {
  for (const path of [".env", "a/settings", "real/target", "plain"]) write(path);
  symlinkSync("real/target", at(".env.local"));
  linkSync(at(".env"), at("a/copy"));
  linkSync(at("real/target"), at("a/alias"));
  linkSync(at("plain"), at("a/plain"));
  const tree = new Tree(root);
  vi.setSystemTime(Date.now() + 60_000);
  const names = [".env", ".env.local", "a/alias", "a/copy", "real/target"];
  for (const _ of [1, 2]) expect((await tree.search()).secrets.sort()).toEqual(names.map(at));
  linkSync(at(".env"), at("real/new"));
  expect((await tree.search()).secrets.sort()).toEqual([...names, "real/new"].map(at).sort());
});

test("a hard link with a name that is not UTF-8 cannot be masked, so commands are refused", async () => {
  write(".env");
  write("a/x");
  linkSync(at(".env"), Buffer.concat([Buffer.from(`${at("a")}/`), Buffer.from([0xff])]));
  await expect(new Tree(root).search()).rejects.toMatchObject({ code: "workspace_too_odd" });
});

test("a workspace that is too large to be searched is refused", async () => {
  for (const path of ["a/x", "b/x", "c/x"]) write(path);
  await expect(new Tree(root, 3).search()).rejects.toMatchObject({
    code: "workspace_too_large",
    message: expect.stringMatching(/more than 3 directories, too many to protect/),
  });
  expect(await new Tree(root, 4).search()).toEqual({ secrets: [], gits: [] });
});
