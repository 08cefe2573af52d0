// The Codex section of docs/agent-events.md cannot drift, and the translator does no I/O: both are read from the source.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { importsOf, reachableFrom, readSources } from "../../docs/sources.ts";
import { ROOT } from "../../support/root.ts";
import { readTraces } from "./translate-traces.ts";

const FOLDER = "src/backends/codex/app-server";
const PURE = ["translate", "requests", "answers", "subagents"].map((name) => `${FOLDER}/${name}.ts`);
const src = readSources(ROOT, "src", [".ts"]);
const files = [...new Set(PURE.flatMap((path) => reachableFrom(path, src)))];
const own = files.filter(({ path }) => path.startsWith(FOLDER));

describe("docs/agent-events.md, Codex", () => {
  const page = readFileSync(join(ROOT, "docs/agent-events.md"), "utf8");
  const section = page.split(/^## Codex$/m)[1]?.split(/^## /m)[0] ?? "";
  const missing = (names: string[]): string[] =>
    [...new Set(names)].filter((name) => !section.includes(`\`${name}\``));

  test("every method and every type of item in the recorded traffic is there", () => {
    const seen = readTraces().flatMap(({ steps }) =>
      steps.flatMap(({ dir, msg: { method, params } }) => {
        if (dir !== "in" || method === undefined) return [];
        const item = params?.["item"] as { type?: string } | undefined;
        return [method, ...(item?.type === undefined ? [] : [item.type])];
      }),
    );
    expect(new Set(seen).size).toBeGreaterThan(40);
    expect(missing(seen)).toEqual([]);
  });

  test("every native name in the translator's tables is there", () => {
    const tables = own.flatMap(({ text }) => [
      ...text.matchAll(
        /^const (?!DETAILS|FAILED|FORM_MODES|PLAIN)[A-Z_]+: Readonly(?:Map|Set)<.*?^\S*\]\);/gms,
      ),
    ]);
    const names = tables.flatMap(([table]) =>
      [...table.matchAll(/(?:^ {2}|^ {2}\[|^ {4})"([\w/]+)",/gm)].map(([, name = ""]) => name),
    );
    expect(names).toEqual(
      expect.arrayContaining(["turn/started", "fs/changed", "warning", "webSearch", "plan", "hookPrompt"]),
    );
    expect(names).toEqual(expect.arrayContaining(["attestation/generate", "applyPatchApproval"]));
    expect(missing(names)).toEqual([]);
  });

  test("every category of notice that the translator emits is there", () => {
    const code = own.map(({ text }) => text).join("\n");
    const made = [...code.matchAll(/(?:toNotice\("codex", |notice\(|errorNotice\("\w+", )"([a-z_]+)"/g)].map(
      ([, name = ""]) => name,
    );
    expect(made).toEqual(expect.arrayContaining(["model_retry", "plan", "agent_notice", "late_result"]));
    expect(missing(made)).toEqual([]);
  });
});

describe("the translator", () => {
  test("loads nothing that can wait, read or write", () => {
    expect(files.length).toBeGreaterThan(15);
    const bare = files.flatMap((source) =>
      importsOf(source)
        .filter(({ isOurs, isTypeOnly }) => !isOurs && !isTypeOnly)
        .map(({ target }) => target),
    );
    expect(bare.filter((name) => name.startsWith("node:"))).toEqual([]);
  });

  test("reads no clock, no random source and no process", () => {
    const impure =
      /\b(Date\.now|new Date|performance\.\w|process\.\w|console\.\w|Math\.random|randomUUID|setTimeout)/;
    expect(own.filter(({ text }) => impure.test(text)).map(({ path }) => path)).toEqual([]);
  });
});
