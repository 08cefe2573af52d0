import { expect, test } from "vitest";
import { createMetrics } from "../../src/base/metrics.ts";

test("a counter is 0 before anything is counted, after its help and type", () => {
  const metrics = createMetrics();
  metrics.counter("blemees_lost_total", "Frames lost.");
  expect(metrics.text()).toBe(
    "# HELP blemees_lost_total Frames lost.\n# TYPE blemees_lost_total counter\nblemees_lost_total 0\n",
  );
});

test("counts add up for each set of labels, whatever their order", () => {
  const metrics = createMetrics();
  const rows = metrics.counter("rows_total", "Rows.");
  rows.add(2, { table: "tool", by: "age" });
  rows.add(1, { table: "turn", by: "age" });
  rows.add(3, { by: "age", table: "tool" });
  expect(metrics.text().split("\n").slice(2)).toEqual([
    'rows_total{by="age",table="tool"} 5',
    'rows_total{by="age",table="turn"} 1',
    "",
  ]);
});

test("a counter never goes down and never becomes NaN", () => {
  const metrics = createMetrics();
  const counter = metrics.counter("a_total", "A.");
  counter.add();
  counter.add(-5);
  counter.add(Number.NaN);
  expect(metrics.text()).toContain("a_total 1\n");
});

test("families are sorted by name, not by declaration", () => {
  const metrics = createMetrics();
  metrics.counter("b_total", "B.");
  metrics.gauge("a", "A.", () => 1);
  metrics.counter("c_total", "C.");
  expect([...metrics.text().matchAll(/# TYPE (\w+)/g)].map(([, name]) => name)).toEqual([
    "a",
    "b_total",
    "c_total",
  ]);
});

test("label values and help are escaped as the format requires", () => {
  const metrics = createMetrics();
  metrics.gauge("g", 'a "quote",\na \\ and more', () => [{ value: 1, labels: { path: 'C:\\x\n"y"' } }]);
  expect(metrics.text()).toBe(
    '# HELP g a "quote",\\na \\\\ and more\n# TYPE g gauge\ng{path="C:\\\\x\\n\\"y\\""} 1\n',
  );
});

test("a gauge is read on demand, and non-finite values have their own names", () => {
  const metrics = createMetrics();
  let value = 1;
  metrics.gauge("g", "G.", () => value);
  value = Number.POSITIVE_INFINITY;
  expect(metrics.text()).toContain("\ng +Inf\n");
  value = Number.NaN;
  expect(metrics.text()).toContain("\ng NaN\n");
});

test("a gauge that cannot be read is left out, and the others are reported", () => {
  const metrics = createMetrics();
  metrics.gauge("bad", "Bad.", () => {
    throw new Error("no");
  });
  metrics.gauge("good", "Good.", () => 7);
  expect(metrics.text()).toBe("# HELP good Good.\n# TYPE good gauge\ngood 7\n");
});

test("a duplicate or invalid name is refused where it is declared", () => {
  const metrics = createMetrics();
  metrics.counter("a_total", "A.");
  expect(() => metrics.gauge("a_total", "A.", () => 1)).toThrow(/twice/);
  expect(() => metrics.counter("no-name", "A.")).toThrow(/not a valid metric name/);
});
