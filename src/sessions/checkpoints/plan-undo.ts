// Which files an undo would change, and which it must not touch. Decided from what each span changed; nothing is written
// here, and nothing is read but the trees' differences. Pure.
import type { RawPath, RestoreStep, TreeChange } from "../../git/index.ts";
import { GITLINK_MODE } from "../../git/index.ts";
import type { LargeChange, Span } from "./spans.ts";

export interface SpanChanges extends Pick<Span, "by" | "turns"> {
  paths: ReadonlySet<RawPath>;
}

export interface UndoInput {
  /** From the first undone turn to now; the last one ends with the work tree as it is. */
  spans: readonly SpanChanges[];
  /** From before that turn to now. */
  changes: readonly TreeChange[];
  large: readonly LargeChange[];
}

export interface PlannedFile {
  step: RestoreStep;
  /** Somebody else may have changed it: only with `force`. */
  doubt?: string;
  /** Impossible. */
  fault?: string;
}

export const NOT_KEPT = "it is larger than checkpoint_file_bytes, so its content was not kept";
const NESTED = "it is a repository of its own";

export function planUndo({ spans, changes, large }: UndoInput): PlannedFile[] {
  const planned = new Map<RawPath, PlannedFile>();
  for (const { path, before, after } of changes) {
    const step = { path, ...(before && { want: before }), ...(after && { have: after }) };
    const isNested = before?.mode === GITLINK_MODE || after?.mode === GITLINK_MODE;
    planned.set(path, { step, ...(isNested ? { fault: NESTED } : {}) });
  }
  for (const { path } of large) {
    planned.set(path, { step: planned.get(path)?.step ?? { path }, fault: NOT_KEPT });
  }
  return [...planned.values()].flatMap((file): PlannedFile[] => {
    const { path } = file.step;
    const touching = spans.filter(({ paths }) => paths.has(path));
    // Only the user changed it: not ours to undo.
    if (!touching.some(({ turns }) => turns.length > 0)) return [];
    const doubt = explainDoubt(touching);
    return [doubt === undefined ? file : { ...file, doubt }];
  });
}

function explainDoubt(touching: readonly SpanChanges[]): string | undefined {
  if (touching.some(({ by }) => by === "cut"))
    return "an undo was interrupted after it had changed this file, and others may have changed it since";
  const other = touching.findLastIndex(({ by }) => by === "others");
  if (other !== -1) {
    const turn = touching
      .slice(0, other)
      .findLast(({ turns }) => turns.length > 0)
      ?.turns.at(-1);
    return turn === undefined
      ? "it was changed between turns"
      : `it was changed after turn ${turn}, not by a turn`;
  }
  const unclear = touching.find(({ by }) => by === "unclear");
  if (unclear === undefined) return undefined;
  return `a checkpoint of turn ${unclear.turns.join(", ")} is missing, so somebody else may have changed it`;
}
