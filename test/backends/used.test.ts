// What agents report while a turn runs: never more than its result says, so that an interrupted turn is counted as it was.
import { expect, test } from "vitest";
import type { TurnUse } from "../../src/protocol/budget.ts";
import type { ResultEvent } from "../../src/protocol/events.ts";
import { USAGE_KEYS } from "../../src/protocol/usage.ts";
import * as acp from "./acp/traces.ts";
import * as claude from "./claude/traces.ts";
import * as codex from "./codex/translate-traces.ts";

type Report = { kind: "used" } & Partial<TurnUse>;
type Said = { used?: Report; result?: ResultEvent };

function toSaid(report: { kind: string; event?: { type: string } } & object): Said[] {
  if (report.kind === "used") return [{ used: report as Report }];
  return report.event?.type === "agent.result" ? [{ result: report.event as ResultEvent }] : [];
}

/** The last report before each result, with the result. */
function pairUp(said: readonly Said[]): { used: Report; result: ResultEvent }[] {
  let last: Report | undefined;
  return said.flatMap(({ used, result }) => {
    last = used ?? last;
    const [before, ended] = [last, result];
    if (ended === undefined) return [];
    last = undefined;
    return before === undefined ? [] : [{ used: before, result: ended }];
  });
}

const TRACES: [string, () => { used: Report; result: ResultEvent }[]][] = [
  [
    "claude",
    () =>
      claude
        .readTraces()
        .flatMap((trace) => pairUp(claude.replay(trace, claude.stateFor(trace)).flatMap(toSaid))),
  ],
  [
    "codex",
    () =>
      codex
        .readTraces()
        .flatMap((trace) =>
          pairUp(codex.replay(trace).flatMap((one) => ("report" in one ? toSaid(one.report) : []))),
        ),
  ],
];

test.each(TRACES)("%s: what a turn reports as used so far is at most what its result says", (_name, play) => {
  const pairs = play();
  expect(pairs.length).toBeGreaterThan(20);
  for (const { used, result } of pairs) {
    // Of interrupted and retried turns Claude reports none at all, although its calls used some.
    if (result.subtype !== "success" || (result.usage?.input_tokens ?? 0) === 0) continue;
    for (const key of USAGE_KEYS)
      expect(used.usage?.[key] ?? 0).toBeLessThanOrEqual(result.usage?.[key] ?? 0);
  }
});

test("acp: the cost of the turn so far, without that of earlier turns", () => {
  const pairs = acp
    .readTraces()
    .flatMap((trace) =>
      pairUp(acp.replay(trace).flatMap((one) => ("report" in one ? toSaid(one.report) : []))),
    );
  const priced = pairs.filter(({ result }) => result.cost_usd !== undefined);
  expect(priced.length).toBeGreaterThan(3);
  for (const { used, result } of priced)
    expect(used.cost_usd ?? 0).toBeLessThanOrEqual((result.cost_usd ?? 0) + 1e-9);
});
