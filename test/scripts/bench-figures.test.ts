// What the bench makes of its figures: goals, table, records, chart, and the decision of the guard in CI.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";

interface Row {
  id: string;
  measure: string;
  store: string;
  unit: string;
  value: number;
  reference?: number;
}
// The scripts are plain JavaScript without declarations, so their modules are loaded by address.
const part = (name: string) => import(new URL(`../../scripts/bench/${name}.mjs`, import.meta.url).href);
const { judge } = await part("goals");
const { median, toRow } = await part("rounds");
const { formatTable } = await part("table");
const { readRecords, writeRecord } = await part("records");
const { drawChart } = await part("chart");
const { takeMiddles } = await part("measures/guard");
const { bestOf, decide, findWorse, reasonToSkip } = await part("guard");

const row = (id: string, value: number, reference?: number, unit = "µs"): Row => ({
  id,
  measure: `the ${id}`,
  store: "durable",
  unit,
  value,
  ...(reference === undefined ? {} : { reference }),
});
const head = {
  commit: "abc1234",
  date: "2026-01-02T00:00:00Z",
  node: "20.19.0",
  cores: 2,
  tools: "c",
  others: 0.1,
};
const record = (rows: Record<string, { value: number; reference?: number }>, more = {}) => ({
  ...head,
  ...more,
  rows,
});

describe("goals", () => {
  const isMet = (figures: Row) => judge(figures).every((goal: { isMet: boolean }) => goal.isMet);

  test("a ratio, a difference and a value are each judged against their own limit", () => {
    expect(isMet(row("ping", 110, 100))).toBe(true);
    expect(isMet(row("ping", 111, 100))).toBe(false);
    expect(isMet(row("throughput.8.memory", 85, 100))).toBe(true);
    expect(isMet(row("throughput.8.memory", 84, 100))).toBe(false);
    expect(isMet(row("raw.claude.total", 302, 300))).toBe(true);
    expect(isMet(row("raw.claude.total", 303, 300))).toBe(false);
    expect(isMet(row("rss.idle", 60))).toBe(true);
    expect(isMet(row("rss.idle", 61))).toBe(false);
  });

  test("a figure that was never measured misses its goal", () => {
    expect(isMet(row("rss.idle", Number.NaN))).toBe(false);
    expect(isMet(row("ping", 70))).toBe(false);
  });
});

test("a row has the middle of its rounds, or the mean of the two middles", () => {
  expect(median([3, 1, 2])).toBe(2);
  expect(median([4, 1, 2, 3])).toBe(2.5);
  expect(toRow({ id: "x" }, [3, 1, 2])).toEqual({ id: "x", value: 2, rounds: [3, 1, 2] });
  expect(toRow({ id: "x" }, [2], [4])).toMatchObject({ value: 2, reference: 4 });
});

describe("the table", () => {
  const last = record({ ping: { value: 300, reference: 200 }, resume: { value: 31 } });
  const lineOf = (text: string, id: string) =>
    text
      .split("\n")
      .find((line) => line.startsWith(`the ${id}`))
      ?.split(/ {2,}/);

  test("shows relay, ours, their ratio, and the ratio of the last recorded commit", () => {
    const text = formatTable([row("ping", 240, 200)], last);
    expect(text).toContain("abc1234");
    expect(lineOf(text, "ping")).toEqual([
      "the ping",
      "durable",
      "200 µs",
      "240 µs",
      "1.20 x",
      "1.50 x",
      "≤ 1.10 x",
      "✗",
    ]);
  });

  test("shows the last value of a figure that the relay does not have", () => {
    expect(lineOf(formatTable([row("resume", 15, undefined, "ms")], last), "resume")).toEqual([
      "the resume",
      "durable",
      "15.0 ms",
      "31.0 ms",
      "≤ 20.0 ms",
      "✓",
    ]);
  });

  test("shows rates as percentages, and nothing for a row that was never recorded", () => {
    const text = formatTable([row("throughput.8.memory", 90_000, 100_000, "/s")], last);
    expect(lineOf(text, "throughput.8.memory")?.slice(2)).toEqual([
      "100 k/s",
      "90 k/s",
      "90 %",
      "≥ 85 %",
      "✓",
    ]);
  });
});

describe("records", () => {
  let directory = "";
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), "blemees-records-"));
  });
  afterEach(() => rmSync(directory, { recursive: true, force: true }));

  test("come back in the order of their commits, with four digits", () => {
    writeRecord({ ...head, rows: [row("ping", 123.456789, 100)] }, directory);
    const older = { ...head, commit: "ffff999", date: "2026-01-01T23:59:59+01:00" };
    writeRecord({ ...older, rows: [row("resume", 20)] }, directory);
    expect(readRecords(directory)).toEqual([
      { ...older, rows: { resume: { value: 20 } } },
      { ...head, rows: { ping: { value: 123.5, reference: 100 } } },
    ]);
  });

  test("have a line per figure", () => {
    const file = writeRecord({ ...head, rows: [row("a", 1), row("b", 2, 3)] }, directory);
    expect(readFileSync(file, "utf8")).toContain(
      '    "a": { "value": 1 },\n    "b": { "value": 2, "reference": 3 }\n',
    );
  });

  test("a file that is not a record is reported and skipped", () => {
    const stderr = vi.spyOn(process.stderr, "write").mockReturnValue(true);
    writeFileSync(join(directory, "broken.json"), "{");
    writeFileSync(join(directory, "other.json"), "{}");
    expect(readRecords(directory)).toEqual([]);
    expect(stderr.mock.calls.flat().join("")).toContain("records/other.json: not a record; skipped");
    stderr.mockRestore();
  });

  test("there may be none", () => expect(readRecords(join(directory, "none"))).toEqual([]));
});

describe("the chart", () => {
  const ping = (value: number, commit: string) => record({ ping: { value, reference: 100 } }, { commit });

  test("shows the newest ratio, and whether it meets the goal", () => {
    const text = drawChart([ping(150, "aaa"), ping(105, "bbb")]);
    expect(text).toContain('class="last met" x="288" y="24">1.05 ×<');
    expect(drawChart([ping(105, "aaa"), ping(150, "bbb")])).toContain(
      'class="last missed" x="288" y="24">1.50 ×<',
    );
    expect(text).toContain("aaa: 1.50 ×");
  });

  test("shows the last twenty commits, and breaks for none that lacks the figure", () => {
    const many = Array.from({ length: 25 }, (_, n) => ping(100 + n, `c${n}`));
    many[20] = record({}, { commit: "c20" });
    const text = drawChart(many);
    expect(text).toContain("the last 20 recorded commits");
    expect(text.match(/<circle/g)).toHaveLength(19);
    expect(text).not.toContain("c4:");
  });

  test("is drawn from a single record, and from none", () => {
    expect(drawChart([ping(105, "aaa")])).toContain("1 recorded commit");
    expect(drawChart([])).toContain("no record");
    expect(drawChart([]) + drawChart([ping(105, "aaa")])).not.toMatch(/NaN|Infinity|undefined/);
  });
});

describe("the guard", () => {
  const last = record({
    "guard.turn": { value: 200, reference: 100 },
    "guard.start": { value: 3, reference: 1 },
  });
  const attempt = (turn: number, others = 0.05) => ({
    rows: [row("guard.turn", turn, 100), row("guard.start", 3, 1), row("guard.new", 9, 1)],
    others,
  });

  test("accepts ratios up to a quarter worse than recorded, at once", () => {
    expect(decide([attempt(250)], last, false)).toBe("ok");
    expect(decide([attempt(251)], last, false)).toBe("again");
  });

  test("fails after three bad attempts, and a single good one is enough", () => {
    expect(decide([attempt(260), attempt(300)], last, false)).toBe("again");
    expect(decide([attempt(260), attempt(300), attempt(270)], last, false)).toBe("worse");
    expect(decide([attempt(260), attempt(300), attempt(240)], last, false)).toBe("ok");
    expect(findWorse([attempt(260)], last).map(({ id }: Row) => id)).toEqual(["guard.turn"]);
  });

  test("does not fail on a busy machine", () => {
    expect(decide([attempt(260), attempt(300, 0.6)], last, false)).toBe("busy");
    expect(decide([attempt(200, 0.9)], last, false)).toBe("ok");
  });

  test("on another kind of machine, the recorded commit counts as it is there", () => {
    const here = { ...last, rows: bestOf([attempt(300).rows, attempt(280).rows]) };
    expect(findWorse([attempt(345)], last)).not.toEqual([]);
    expect(findWorse([attempt(345)], here)).toEqual([]);
    expect(findWorse([attempt(355)], here).map(({ id }: Row) => id)).toEqual(["guard.turn"]);
  });

  test("two attempts are enough if they took long", () => {
    expect(decide([attempt(260)], last, true)).toBe("again");
    expect(decide([attempt(260), attempt(300)], last, true)).toBe("worse");
  });

  test("a figure that was never measured is worse", () => {
    expect(decide([attempt(Number.NaN)], last, false)).toBe("again");
  });

  test("a record keeps the attempt in the middle, row by row", () => {
    const attempts = [3, 1, 2].map((n) => [row("a", n, 1), row("b", 1, n)]);
    expect(takeMiddles(attempts)).toMatchObject([{ value: 2 }, { reference: 2 }]);
  });

  test("compares only with a record of the same kind of machine", () => {
    const machine = { node: "20.20.2", cores: 2, tools: "c" };
    expect(reasonToSkip(machine, last)).toBeUndefined();
    expect(reasonToSkip(machine, undefined)).toContain("no record");
    expect(reasonToSkip({ ...machine, cores: 8 }, last)).toContain("8 cores");
    expect(reasonToSkip({ ...machine, node: "24.1.0" }, last)).toContain("Node 24");
    expect(reasonToSkip({ ...machine, tools: "node" }, last)).toContain("compiler");
    expect(reasonToSkip(machine, { ...last, others: 0.8 })).toContain("80 %");
  });
});
