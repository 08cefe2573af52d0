// write_file: what is planned is what is written, or nothing is.
import { existsSync, linkSync, lstatSync, mkdirSync, symlinkSync } from "node:fs";
import { afterEach, beforeEach, expect, test } from "vitest";
import { writeFileTool } from "../../../src/runtime/tools/write-file.ts";
import { Bench } from "./run-tool.ts";

let bench: Bench;
beforeEach(async () => {
  bench = await Bench.open();
});
afterEach(() => bench.close());

test("a new file is made with its directories, and the plan shows it as new", async () => {
  const { plan } = await bench.plan(writeFileTool, { path: "a/b/c.txt", content: "one\ntwo\n" });
  expect(plan).toMatchObject({
    title: "write_file: a/b/c.txt",
    targets: [{ kind: "path", access: "write", lexical: "a/b/c.txt", real: "a/b/c.txt" }],
    changes: [{ path: "a/b/c.txt", newText: "one\ntwo\n" }],
  });
  expect(plan.changes?.[0]).not.toHaveProperty("oldText");
  expect(existsSync(bench.path("a"))).toBe(false);
  const result = await bench.run(writeFileTool, { path: "a/b/c.txt", content: "one\ntwo\n" });
  expect(result.content).toBe("created a/b/c.txt (2 lines, 8 bytes)");
  expect(result.metadata?.changes).toEqual([{ path: "a/b/c.txt", newText: "one\ntwo\n" }]);
  expect(bench.get("a/b/c.txt")).toBe("one\ntwo\n");
});

test("an old file is replaced, and the plan shows both texts", async () => {
  bench.put("a.txt", "old");
  const { plan } = await bench.plan(writeFileTool, { path: "a.txt", content: "new" });
  expect(plan.changes).toEqual([{ path: "a.txt", oldText: "old", newText: "new" }]);
  expect(await bench.text(writeFileTool, { path: "a.txt", content: "new" })).toBe(
    "replaced a.txt (1 lines, 3 bytes)",
  );
  expect(bench.get("a.txt")).toBe("new");
});

test("empty content makes an empty file, absent content is refused", async () => {
  await bench.run(writeFileTool, { path: "a.txt", content: "" });
  expect(bench.get("a.txt")).toBe("");
  expect(writeFileTool.check({ path: "a.txt" })).toMatchObject({
    message: "/content: required, expected string",
  });
});

test("a binary file is not shown as text", async () => {
  bench.put("a.bin", Buffer.from([0, 1, 2]));
  const { plan } = await bench.plan(writeFileTool, { path: "a.bin", content: "x" });
  expect(plan.changes?.[0]?.oldText).toBe("[binary, 3 bytes]");
});

test("what changed after the plan is not overwritten", async () => {
  bench.put("a.txt", "old");
  const seen = await bench.plan(writeFileTool, { path: "a.txt", content: "ours" });
  const unseen = await bench.plan(writeFileTool, { path: "new.txt", content: "ours" });
  bench.put("a.txt", "theirs");
  bench.put("new.txt", "theirs");
  for (const { value, plan } of [seen, unseen]) {
    const failure = writeFileTool.execute(value, plan, bench.context());
    await expect(failure).rejects.toMatchObject({ code: "changed_since" });
  }
  expect([bench.get("a.txt"), bench.get("new.txt")]).toEqual(["theirs", "theirs"]);
});

test("a link is shown in the title, written through, and stays", async () => {
  bench.put("real.txt", "old");
  symlinkSync("real.txt", bench.path("link.txt"));
  const { plan } = await bench.plan(writeFileTool, { path: "link.txt", content: "new" });
  expect(plan.title).toBe("write_file: link.txt (a link to real.txt)");
  await bench.run(writeFileTool, { path: "link.txt", content: "new" });
  expect([bench.get("real.txt"), lstatSync(bench.path("link.txt")).isSymbolicLink()]).toEqual(["new", true]);
});

test("10 MB are written, one byte more is not", async () => {
  const limit = 10 * 1024 * 1024;
  await bench.run(writeFileTool, { path: "a", content: "x".repeat(limit) });
  expect(lstatSync(bench.path("a")).size).toBe(limit);
  expect(await bench.fault(writeFileTool, { path: "b", content: "x".repeat(limit + 1) })).toMatch(
    /^too_large/,
  );
});

test("directories, hard links, and what is outside are refused", async () => {
  bench.put("dir/a", "x");
  linkSync(bench.path("dir/a"), bench.path("linked"));
  const fault = (path: string) => bench.fault(writeFileTool, { path, content: "y" });
  expect(await fault("dir")).toMatch(/^not_a_file/);
  expect(await fault("dir/")).toMatch(/^not_a_file/);
  expect(await fault("linked")).toMatch(/^hard_linked: linked is hard-linked/);
  expect(await fault("../x")).toMatch(/^path_outside/);
  expect(await fault("/tmp/x")).toMatch(/^path_outside/);
  expect(bench.get("dir/a")).toBe("x");
});

test.each([
  ".env",
  "a/.env.local",
  ".git/hooks/pre-commit",
  ".GIT/config",
  ".demian/config.json",
  "node_modules/x.js",
])("%s is protected: neither written nor shown in the plan", async (path) => {
  bench.put(path, "secret");
  const { plan } = await bench.plan(writeFileTool, { path, content: "x" });
  expect(plan).toEqual({
    title: `write_file: ${path}`,
    targets: [expect.objectContaining({ lexical: path })],
  });
  expect(await bench.fault(writeFileTool, { path, content: "x" })).toMatch(/^protected/);
  expect(bench.get(path)).toBe("secret");
});

test("a lone surrogate is refused: the file would differ from what was shown", async () => {
  expect(await bench.fault(writeFileTool, { path: "a", content: "x\ud83dy" })).toMatch(
    /^invalid_text.*surrogate/,
  );
  expect(existsSync(bench.path("a"))).toBe(false);
});

test("a link to something protected is protected too", async () => {
  mkdirSync(bench.path(".git/hooks"), { recursive: true });
  symlinkSync(".git", bench.path("repo"));
  symlinkSync(".git/hooks/pre-commit", bench.path("script.sh"));
  for (const path of ["repo/config", "script.sh"]) {
    expect(await bench.fault(writeFileTool, { path, content: "x" })).toMatch(/^protected/);
  }
  expect(existsSync(bench.path(".git/hooks/pre-commit"))).toBe(false);
});
