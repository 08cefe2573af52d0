import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Runtime } from "../../../src/runtime/session-types.ts";
import type { ToolContext, ToolResult } from "../../../src/runtime/tools/types.ts";
import { Place } from "../place.ts";

const SKILL =
  "---\nname: release\ndescription: How to release this\n---\nRun `make release`. See steps.md.\n";

let place: Place;

beforeEach(() => {
  place = new Place();
});

afterEach(() => place.close());

function write(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

const own = (path: string) => join(place.home, ".demian/skills", path);

function call(runtime: Runtime, input: object): Promise<ToolResult> {
  const tool = runtime.tools.get("skill");
  if (tool === undefined) throw new Error("no skills");
  const context = { keepOutput: async () => "kept" } as unknown as ToolContext;
  return tool.execute(input, { title: "", targets: [] }, context);
}

describe("skills of the user", () => {
  test("are listed by name and one line, and loaded with their files", async () => {
    write(own("release/SKILL.md"), SKILL);
    write(own("release/steps.md"), "1. tag");
    const runtime = await place.runtime();
    expect(runtime.warnings).toEqual([]);
    expect(runtime.tools.get("skill")?.description).toContain("\n- release: How to release this");
    expect(runtime.tools.get("skill")?.description).not.toContain("make release");
    expect(await call(runtime, { name: "release" })).toMatchObject({
      ok: true,
      content: expect.stringMatching(/^Run `make release`[\s\S]*steps\.md\]$/),
    });
    expect(await call(runtime, { name: "release", file: "steps.md" })).toMatchObject({ content: "1. tag" });
  });

  test("give no file outside their directory", async () => {
    write(own("release/SKILL.md"), SKILL);
    write(join(place.home, "secret"), "secret");
    symlinkSync(join(place.home, "secret"), own("release/link"));
    const runtime = await place.runtime();
    for (const file of ["../../../secret", "link", "/etc/passwd", "SKILL.md/../../x"])
      await expect(call(runtime, { name: "release", file })).rejects.toThrow("no file");
    await expect(call(runtime, { name: "other" })).rejects.toThrow("known: release");
  });

  test("that are faulty are skipped and reported with the reason; the others work", async () => {
    write(own("release/SKILL.md"), SKILL);
    write(own("plain/SKILL.md"), "no front matter");
    write(own("Bad_Name/SKILL.md"), "---\ndescription: x\n---\n");
    write(own("silent/SKILL.md"), "---\nname: silent\n---\n");
    write(own("other/SKILL.md"), "---\nname: another\ndescription: x\n---\n");
    write(own("open/SKILL.md"), SKILL.replace("release", "open"));
    chmodSync(own("open/SKILL.md"), 0o666);
    const runtime = await place.runtime();
    expect(runtime.warnings.join("\n")).toMatch(/Bad_Name.*a-z/);
    for (const [name, why] of [
      ["plain", "front matter"],
      ["silent", "description"],
      ["other", "that of its directory"],
      ["open", "writable by everyone"],
    ])
      expect(runtime.warnings.filter((text) => text.includes(`/${name}/`))).toEqual([
        expect.stringContaining(why ?? ""),
      ]);
    expect((await call(runtime, { name: "release" })).ok).toBe(true);
  });

  test("in great numbers keep the list short, with every name", async () => {
    for (let at = 0; at < 100; at += 1)
      write(own(`s${at}/SKILL.md`), `---\ndescription: ${"long ".repeat(100)}\n---\ntext`);
    const runtime = await place.runtime();
    const { description = "" } = runtime.tools.get("skill") ?? {};
    expect(description.length).toBeLessThan(9000);
    for (let at = 0; at < 100; at += 1) expect(description).toContain(`- s${at}:`);
  });

  test("no skills, no tool", async () => {
    expect((await place.runtime()).tools.get("skill")).toBeUndefined();
  });
});

describe("skills of a project", () => {
  beforeEach(() => place.write(".demian/skills/release/SKILL.md", SKILL));

  test("are not loaded before trust, and the warning says how to trust them", async () => {
    const runtime = await place.runtime();
    expect(runtime.tools.get("skill")).toBeUndefined();
    expect(runtime.warnings).toEqual([
      expect.stringMatching(/release\/SKILL\.md is not loaded.*demian trust/),
    ]);
  });

  test("are loaded once trusted, until they change", async () => {
    const trusted = await place.runtime({ trust: { project: true } });
    expect((await call(trusted, { name: "release" })).ok).toBe(true);
    expect((await place.runtime()).tools.get("skill")).toBeDefined();
    place.write(".demian/skills/release/SKILL.md", `${SKILL}Also run curl.\n`);
    expect((await place.runtime()).tools.get("skill")).toBeUndefined();
  });

  test("do not replace the user's", async () => {
    write(own("release/SKILL.md"), SKILL.replace("Run `make release`", "Mine"));
    const runtime = await place.runtime({ trust: { project: true } });
    expect((await call(runtime, { name: "release" })).content).toContain("Mine");
    expect(runtime.warnings).toEqual([expect.stringContaining('there is another skill "release"')]);
  });
});
