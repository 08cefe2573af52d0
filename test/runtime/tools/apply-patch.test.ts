// apply_patch: several files in one step, all of it or nothing.
import { chmodSync, existsSync, linkSync, readdirSync, statSync, symlinkSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { applyPatchTool } from "../../../src/runtime/tools/apply-patch.ts";
import { Bench } from "./run-tool.ts";

let bench: Bench;
beforeEach(async () => {
  bench = await Bench.open();
});
afterEach(() => bench.close());

const wrap = (...lines: string[]) => ({ patch: ["*** Begin Patch", ...lines, "*** End Patch"].join("\n") });
const fault = (...lines: string[]) => bench.fault(applyPatchTool, wrap(...lines));
const ALL = [
  "*** Add File: deep/new.ts",
  "+new",
  "*** Update File: a.ts",
  "@@",
  "-a",
  "+A",
  "*** Delete File: gone.ts",
  "*** Update File: from.sh",
  "*** Move to: to.sh",
  "@@",
  "-old",
  "+moved",
];

function putAll(): void {
  for (const [path, text] of [
    ["a.ts", "a\n"],
    ["gone.ts", "bye\n"],
    ["from.sh", "old\n"],
  ] as const)
    bench.put(path, text);
  chmodSync(bench.path("from.sh"), 0o755);
}

describe("a patch", () => {
  test("adds, changes, deletes and moves, and reports each file", async () => {
    putAll();
    expect(await bench.text(applyPatchTool, wrap(...ALL))).toBe(
      "added deep/new.ts (+1)\nchanged a.ts (+1 −1)\ndeleted gone.ts\nmoved from.sh to to.sh (+1 −1)",
    );
    expect([bench.get("deep/new.ts"), bench.get("a.ts"), bench.get("to.sh")]).toEqual([
      "new\n",
      "A\n",
      "moved\n",
    ]);
    expect(readdirSync(bench.root).sort()).toEqual(["a.ts", "deep", "to.sh"]);
    expect(statSync(bench.path("to.sh")).mode & 0o777).toBe(0o755);
  });

  test("is shown as one list of changes, and every file it touches is a target", async () => {
    putAll();
    const { plan } = await bench.plan(applyPatchTool, wrap(...ALL));
    expect(plan.title).toBe("apply_patch: deep/new.ts, a.ts, gone.ts, … (4 files)");
    expect(plan.targets.map((target) => target.kind === "path" && [target.access, target.real])).toEqual(
      ["deep/new.ts", "a.ts", "gone.ts", "from.sh", "to.sh"].map((path) => ["write", path]),
    );
    expect(plan.changes).toEqual([
      { path: "deep/new.ts", newText: "new\n" },
      { path: "a.ts", oldText: "a\n", newText: "A\n" },
      { path: "gone.ts", oldText: "bye\n", newText: "", isDeleted: true },
      { path: "from.sh", oldText: "old\n", newText: "moved\n", movedTo: "to.sh" },
    ]);
  });

  test("with one file that does not fit changes nothing", async () => {
    putAll();
    expect(await fault("*** Add File: b.ts", "+b", "*** Update File: a.ts", "@@", "-nope", "+A")).toMatch(
      /bad_patch: line 5 .*a\.ts does not have these lines.*nothing was changed/,
    );
    expect(existsSync(bench.path("b.ts"))).toBe(false);
  });

  test("fails as a whole if a file changed after it was shown", async () => {
    putAll();
    const { value, plan } = await bench.plan(applyPatchTool, wrap(...ALL));
    bench.put("from.sh", "another\n");
    await expect(applyPatchTool.execute(value, plan, bench.context())).rejects.toThrow(
      /from\.sh has changed/,
    );
    expect(bench.get("a.ts")).toBe("a\n");
    expect(existsSync(bench.path("deep"))).toBe(false);
  });

  test("is taken back if a file cannot be written in the middle", async () => {
    putAll();
    const { value, plan } = await bench.plan(applyPatchTool, wrap(...ALL));
    const context = bench.context();
    const workspace = Object.create(context.workspace, {
      remove: {
        value: (path: string, ...rest: [string, string]) =>
          path === "from.sh"
            ? Promise.reject(new Error("disk full"))
            : context.workspace.remove(path, ...rest),
      },
      write: { value: context.workspace.write.bind(context.workspace) },
      locate: { value: context.workspace.locate.bind(context.workspace) },
      check: { value: context.workspace.check.bind(context.workspace) },
    });
    await expect(applyPatchTool.execute(value, plan, { ...context, workspace })).rejects.toThrow(
      "disk full; nothing was changed",
    );
    expect([bench.get("a.ts"), bench.get("gone.ts"), bench.get("from.sh")]).toEqual([
      "a\n",
      "bye\n",
      "old\n",
    ]);
    expect(existsSync(bench.path("to.sh")) || existsSync(bench.path("deep/new.ts"))).toBe(false);
  });
});

describe("what it refuses", () => {
  test.each([
    [["*** Add File: a.ts", "+x"], /a\.ts already exists/],
    [["*** Update File: a.ts", "*** Move to: gone.ts"], /gone\.ts already exists/],
    [["*** Update File: a.ts", "@@", "-a", "+a"], /a\.ts would not change/],
    [["*** Delete File: a.ts", "*** Update File: a.ts", "@@", "-a", "+b"], /a\.ts is named twice/],
    [["*** Delete File: none.ts"], /not_found/],
    [["*** Delete File: ../x"], /path_outside/],
    [["*** Add File: .git/hooks/x", "+x"], /protected/],
    [["*** Add File: a/.env", "+x"], /protected/],
  ])("%j", async (lines, message) => {
    putAll();
    expect(await fault(...lines)).toMatch(message);
  });

  test("a hard-linked file, and one reached through a link", async () => {
    putAll();
    linkSync(bench.path("a.ts"), bench.path("other.ts"));
    symlinkSync("gone.ts", bench.path("link.ts"));
    expect(await fault("*** Delete File: a.ts")).toMatch(/hard_linked/);
    expect(await fault("*** Delete File: link.ts")).toMatch(/is a link to gone\.ts; name that file/);
    symlinkSync("/etc", bench.path("out"));
    expect(await fault("*** Add File: out/x", "+x")).toMatch(/path_outside/);
  });

  test("a protected file without showing what is in the others", async () => {
    putAll();
    const { plan } = await bench.plan(
      applyPatchTool,
      wrap("*** Update File: a.ts", "@@", "-a", "+A", "*** Add File: .env", "+x"),
    );
    expect(plan.changes).toBeUndefined();
  });
});
