// What messages cost, added up over processes, days and months.
import { execFile } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { buildSync } from "esbuild";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  type LedgerOrder,
  type ProcessSpend,
  UsageLedger,
} from "../../../../src/runtime/external/claude-code/usage-ledger.ts";
import { ROOT } from "../../../support/root.ts";

let directory: string;
let warnings: string[];
beforeEach(() => {
  directory = join(mkdtempSync(join(tmpdir(), "demian-ledger-")), "demian");
  warnings = [];
});
afterEach(() => rmSync(join(directory, ".."), { recursive: true, force: true }));

const newSpend = (): ProcessSpend => ({ days: [], warned: new Set() });
const file = () => join(directory, "claude-code-usage.json");

/** Each has its own memory, as in a separate process. */
function ledger(more: Partial<LedgerOrder> = {}): UsageLedger {
  return new UsageLedger({
    directory,
    profile: "claudecode",
    scope: "daily",
    memory: newSpend(),
    warn: (message) => warnings.push(message),
    ...more,
  });
}
const at = (text: string) => () => new Date(text);

describe("36: usage ledger", () => {
  test("processes add up, in a file that only its user can read", async () => {
    await ledger().add(0.5);
    await ledger().add(0.25);
    expect(await ledger().readSpent()).toBe(0.75);
    expect(statSync(file()).mode & 0o777).toBe(0o600);
    expect(statSync(directory).mode & 0o777).toBe(0o700);
  });

  test("none is lost when real processes add at the same time", async () => {
    const program = join(directory, "../add.mjs");
    const source = `
      import { UsageLedger } from "./usage-ledger.ts";
      const warn = () => { process.exitCode = 1; };
      const order = { directory: process.argv[2], profile: "claudecode", scope: "daily", warn };
      const ledger = new UsageLedger({ ...order, memory: { days: [], warned: new Set() } });
      for (let n = 0; n < 10; n += 1) await ledger.add(1);`;
    const resolveDir = join(ROOT, "src/runtime/external/claude-code");
    buildSync({
      stdin: { contents: source, resolveDir },
      bundle: true,
      platform: "node",
      format: "esm",
      outfile: program,
    });
    const run = promisify(execFile);
    await Promise.all([1, 2, 3].map(() => run(process.execPath, [program, directory])));
    expect(await ledger().readSpent()).toBe(30);
  });

  test("a day, a month and a process are counted apart, and so are profiles", async () => {
    const memory = newSpend();
    await ledger({ now: at("2026-10-31T12:00:00") }).add(8);
    await ledger({ now: at("2026-11-01T12:00:00") }).add(4);
    await ledger({ now: at("2026-11-02T12:00:00"), memory }).add(2);
    await ledger({ now: at("2026-11-02T12:00:00"), profile: "other" }).add(1);
    const now = at("2026-11-02T23:59:00");
    expect(await ledger({ now, scope: "daily" }).readSpent()).toBe(2);
    expect(await ledger({ now, scope: "monthly" }).readSpent()).toBe(6);
    expect(await ledger({ now, scope: "process", memory }).readSpent()).toBe(2);
    expect(await ledger({ now, scope: "process" }).readSpent()).toBe(0);
    expect(await ledger({ now: at("2026-11-03T00:01:00"), scope: "daily" }).readSpent()).toBe(0);
  });

  test("it warns once at 80 % and once when it is spent, and refuses then", async () => {
    const mine = ledger({ budgetUsd: 1, memory: newSpend() });
    expect(await mine.check()).toBe(1);
    await mine.add(0.79);
    expect(warnings).toEqual([]);
    await mine.add(0.02);
    await mine.add(0.02);
    expect(await mine.check()).toBeCloseTo(0.17);
    expect(warnings).toEqual(["$0.81 of the $1.00 budget for claudecode was spent today"]);
    await mine.add(0.5);
    expect(warnings[1]).toBe(
      "$1.33 of the $1.00 budget for claudecode was spent today: the next message to Claude Code will be refused",
    );
    await expect(mine.check()).rejects.toMatchObject({ code: "budget_spent" });
    expect(warnings).toHaveLength(2);
  });

  test("a new process knows what others spent", async () => {
    await ledger().add(0.9);
    await ledger({ budgetUsd: 1 }).check();
    expect(warnings).toEqual(["$0.9 of the $1.00 budget for claudecode was spent today"]);
  });

  test.each([Number.NaN, Number.POSITIVE_INFINITY, -1, 0])("a cost of %s is ignored", async (usd) => {
    await ledger().add(usd);
    expect(await ledger().readSpent()).toBe(0);
  });

  test("a damaged file is set aside with a warning; the process's own spending still counts", async () => {
    const mine = ledger({ budgetUsd: 1 });
    await mine.add(2);
    writeFileSync(file(), "{");
    await expect(mine.check()).rejects.toMatchObject({ code: "budget_spent" });
    expect(warnings.at(-1)).toMatch(
      /is damaged .* was moved to .*\.bad-\d+: the Claude Code costs of other processes/,
    );
  });

  test("a file that others can write is not believed", async () => {
    await ledger().add(2);
    chmodSync(file(), 0o666);
    expect(await ledger().readSpent()).toBe(0);
    expect(warnings).toEqual([expect.stringContaining("can be written by others")]);
  });

  test("it does not grow without end: the oldest days go", async () => {
    const days = Array.from({ length: 1000 }, (_, day) => {
      const date = new Date(Date.UTC(2020, 0, 1 + day)).toISOString().slice(0, 10);
      return { date, profile: "claudecode", usd: 1 };
    });
    await ledger().add(1);
    writeFileSync(file(), JSON.stringify({ version: 1, days }), { mode: 0o600 });
    await ledger({ now: at("2026-11-02T12:00:00") }).add(1);
    const kept = JSON.parse(readFileSync(file(), "utf8")) as { days: { date: string }[] };
    expect([kept.days.length, kept.days[0]?.date, kept.days.at(-1)?.date]).toEqual([
      1000,
      "2020-01-02",
      "2026-11-02",
    ]);
  });
});
