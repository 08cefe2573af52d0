// Undoes turns: what would happen, then, if nothing is in the way, the files as they were before. All in one step of the
// session, between two checkpoints.
import { CodedError } from "../../base/coded-error.ts";
import { type RawPath, type RestoreStep, toShownPath, type WorkTree } from "../../git/index.ts";
import type { UndoBody, UndoneFile } from "../../protocol/changes.ts";
import type { Comparisons } from "./comparisons.ts";
import { type PlannedFile, planUndo } from "./plan-undo.ts";
import type { CheckpointRecord } from "./records.ts";
import { findLastTurn, findSpan, type KnownRecord, listLargeChanges, listSpans } from "./spans.ts";

export interface UndoFacts {
  tree: WorkTree;
  records: readonly CheckpointRecord[];
  comparisons: Comparisons;
  /** The work tree as it is now. */
  now: KnownRecord;
}

export interface UndoPlan {
  turn: number;
  steps: RestoreStep[];
  files: UndoneFile[];
  /** Nothing is in the way, or it is forced. */
  isAllowed: boolean;
  /** All that the turns changed. */
  isWhole: boolean;
}

/** Throws `change_unknown`, `git_failed`. */
export async function preparePlan(facts: UndoFacts, order: UndoBody): Promise<UndoPlan> {
  const { records, now, tree, comparisons } = facts;
  const spans = listSpans([...records, now]);
  const turn = order.turn ?? findLastTurn(records, spans);
  if (turn === undefined)
    throw new CodedError("change_unknown", "no turn of this session changed files that are not undone");
  const first = findSpan(spans, turn);
  if (first === undefined) {
    throw new CodedError(
      "change_unknown",
      `nothing is known about the files before turn ${turn}; choose another turn`,
    );
  }
  const inside = spans.slice(spans.indexOf(first));
  const planned = planUndo({
    spans: await Promise.all(
      inside.map(async (span) => ({ ...span, paths: await comparisons.listPaths(tree, span) })),
    ),
    changes: await comparisons.compare(tree, first.from.tree, now.tree, false),
    large: listLargeChanges(first.from, now),
  });
  const { chosen, missing } = choose(planned, order.files);
  const refused = await findFaults(tree, chosen, order.force === true);
  const isDone = (file: PlannedFile) => !refused.has(file.step.path);
  const possible = chosen.filter(isDone);
  return {
    turn,
    steps: possible.map(({ step }) => step),
    files: [...chosen.map((file) => toUndone(file, refused)), ...missing],
    isAllowed: order.force === true || refused.size + missing.length === 0,
    isWhole: order.files === undefined && refused.size === 0,
  };
}

/** The work tree before and after are checkpoints of their own, so an undo can be seen and undone. */
export async function performUndo(
  { tree, plan, kept }: { tree: WorkTree; plan: UndoPlan; kept: readonly string[] },
  add: (mark: { kind: "undo_before" | "undo_after"; undone?: number }) => Promise<CheckpointRecord>,
): Promise<void> {
  let isWhole = false;
  try {
    await tree.restore(plan.steps, kept);
    ({ isWhole } = plan);
  } finally {
    await add({ kind: "undo_after", ...(isWhole ? { undone: plan.turn } : {}) });
  }
}

function choose(planned: readonly PlannedFile[], files: readonly string[] | undefined) {
  if (files === undefined) return { chosen: [...planned], missing: [] };
  const wanted = new Set(files);
  const chosen = planned.filter(({ step }) => wanted.delete(toShownPath(step.path).path));
  const reason = "these turns did not change it, or it has its old content";
  return { chosen, missing: [...wanted].map((path): UndoneFile => ({ path, action: "refused", reason })) };
}

async function findFaults(
  tree: WorkTree,
  chosen: readonly PlannedFile[],
  isForced: boolean,
): Promise<Map<RawPath, string>> {
  const refused = new Map<RawPath, string>();
  const steps = new Map(chosen.map(({ step }) => [step.path, step]));
  const sizes = await tree.readSizes(
    chosen.flatMap(({ step: { want }, fault }) =>
      want === undefined || fault !== undefined ? [] : [want.oid],
    ),
  );
  for (const { step, fault, doubt } of chosen) {
    const isGone = step.want !== undefined && fault === undefined && !sizes.has(step.want.oid);
    const gone = isGone ? "git has removed its old content from the repository (git gc)" : undefined;
    const why = fault ?? gone ?? (isForced ? undefined : doubt);
    if (why === undefined) continue;
    refused.set(step.path, why);
    steps.delete(step.path);
  }
  // What is refused stays in the way of others.
  for (let count = -1; count !== refused.size; ) {
    count = refused.size;
    for (const step of [...steps.values()]) {
      const why = await tree.findObstacle(step, steps);
      if (why === undefined) continue;
      refused.set(step.path, why);
      steps.delete(step.path);
    }
  }
  return refused;
}

function toUndone(
  { step: { path, want, have } }: PlannedFile,
  refused: ReadonlyMap<RawPath, string>,
): UndoneFile {
  const reason = refused.get(path);
  if (reason !== undefined) return { ...toShownPath(path), action: "refused", reason };
  const action = want === undefined ? "delete" : have === undefined ? "create" : "restore";
  return { ...toShownPath(path), action };
}
