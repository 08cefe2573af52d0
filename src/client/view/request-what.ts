// What a request asks for, in one line of a list. Untrusted text; each screen makes it safe when it draws.
import type { FileChange, RequestRow } from "../../protocol/requests.ts";
import { getChangeLabel } from "./format.ts";

/** "run npm test", "edit src/a.ts", "question: Which one?". `cwd`: paths below it are shown without it. */
export function summarizeRequest({ request_type, payload }: RequestRow, cwd?: string): string {
  const { title, command, changes = [], plan, questions = [] } = payload;
  const [change, ...changed] = changes;
  const [question, ...asked] = questions;
  if (question !== undefined) return `question: ${question.question}${countMore(asked)}`;
  if (plan !== undefined) return `plan: ${plan.trimStart().split("\n", 1)[0] ?? ""}`;
  if (change !== undefined) return `${summarizeChange(change, cwd)}${countMore(changed)}`;
  return request_type === "command" && command !== undefined ? `run ${command}` : title;
}

function summarizeChange(change: FileChange, cwd: string | undefined): string {
  const [from, to] = [change.path, change.move_path].map((path) =>
    cwd !== undefined && path?.startsWith(`${cwd}/`) ? path.slice(cwd.length + 1) : path,
  );
  return `${getChangeLabel(change)} ${from}${to === undefined ? "" : ` → ${to}`}`;
}

function countMore(others: readonly unknown[]): string {
  return others.length === 0 ? "" : ` and ${others.length} more`;
}
