// A rule as one line for people.
import { quoteShellWord } from "../../base/shell-word.ts";
import type { PolicyRule } from "../../protocol/policy.ts";
import { readHole } from "../../protocol/policy-holes.ts";

export function describeRule({ when, then, until, max_uses, why }: PolicyRule): string {
  const { argv, backend, session, label, request_type, tool, input } = when;
  const words = argv?.map((word) => (readHole(word) === undefined ? quoteShellWord(word) : word)).join(" ");
  const conditions = [
    ...(words === undefined ? [] : [words === "" ? "no command" : `the command ${words}`]),
    ...list("requests of type", request_type),
    ...list("the tool", tool),
    ...(input === undefined ? [] : [`with the input ${JSON.stringify(input)}`]),
    ...list("for files in", when.paths_within),
    ...list("run in", when.cwd_within),
    ...list("in sessions started in", when.started_within),
    ...list("by", backend),
    ...list("of the session", session),
    ...list("of sessions named", label),
  ];
  const limits = [
    ...(until === undefined ? [] : [`until ${until}`]),
    ...(max_uses === undefined ? [] : [max_uses === 1 ? "once" : `${max_uses} times`]),
  ];
  const reason = why === undefined || why === "" ? "" : ` (${why})`;
  return `${then}: ${[...conditions, ...limits].join(", ")}${reason}`;
}

function list(name: string, value: string | string[] | undefined): string[] {
  if (value === undefined) return [];
  const values = [value].flat();
  return [`${name} ${values.length === 0 ? "(none)" : values.join(" or ")}`];
}
