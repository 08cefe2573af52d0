// "Make a rule of this": rules that would have given the answer that a person gave, narrowest first.
import { createHash } from "node:crypto";
import { dirname } from "node:path";
import { GIT_READERS, isIn, READERS } from "../../base/commands/programs.ts";
import { defined } from "../../base/values.ts";
import { PolicyRule, type PolicyWhen } from "../../protocol/policy.ts";
import { fitsPattern } from "../../protocol/policy-holes.ts";
import { decide } from "./decide.ts";
import type { RequestFacts, SessionFacts } from "./types.ts";

/** How long a suggested rule lasts. */
const DAYS = 30;
const DAY_MS = 86_400_000;

export interface Suggesting {
  request: RequestFacts;
  session: SessionFacts;
  decision: "allow" | "deny";
  request_id: string;
  nowMs: number;
}

/** Only rules that are valid and match the request; none if no rule could. */
export function suggestRules({
  request,
  session,
  decision: then,
  request_id,
  nowMs,
}: Suggesting): PolicyRule[] {
  const until = new Date(nowMs + DAYS * DAY_MS).toISOString().replace(/\.\d+Z$/, "Z");
  return listConditions(request, session, then).flatMap((when) => {
    const id = makeId(when, then);
    const rule = PolicyRule.safeParse({ id, when, then, until, why: `made from ${request_id}` }).data;
    if (rule === undefined) return [];
    const decided = decide(request, session, [{ rule, uses: 0 }], nowMs);
    return decided.rule_id === rule.id ? [rule] : [];
  });
}

function listConditions(request: RequestFacts, session: SessionFacts, then: "allow" | "deny"): PolicyWhen[] {
  const { backend, request_type, tool, input, argv, cwd, paths } = request;
  if (request_type === "command") {
    if (argv === undefined) return [];
    // Where a shell that stays open is now is not certain; where its session started is.
    const places =
      cwd?.real === undefined ? { started_within: session.started?.real } : { cwd_within: cwd.real };
    const where = { backend, ...defined({ tool, ...places }) };
    const exact = { ...where, argv: [...argv] };
    const template = toTemplate(request);
    return template === undefined ? [exact] : [exact, { ...where, argv: template }];
  }
  if (request_type === "file_change") {
    const folders = new Set(paths.map(({ real, lexical }) => dirname(real ?? lexical)));
    return [{ backend, request_type, paths_within: [...folders] }];
  }
  if (tool === undefined) return [];
  const exact = input === undefined ? [] : [{ backend, tool, input: input as Record<string, unknown> }];
  return then === "deny" || exact.length === 0 ? [...exact, { backend, tool }] : exact;
}

/** The command with numbers, revisions and paths replaced by holes; undefined if it has none. */
function toTemplate({ argv = [], words, cwd }: RequestFacts): string[] | undefined {
  const [program = "", sub = ""] = argv;
  const takesRevs = program === "git" && GIT_READERS.has(sub) && sub !== "branch";
  // A path may vary only where it is read.
  const isReader = takesRevs || isIn(READERS, program);
  const template = argv.map((word, at) => {
    if (at === 0 || word.startsWith("-") || (program === "git" && at === 1)) return word;
    if (fitsPattern("int", word)) return "<int>";
    const path = words.get(word);
    const isFile =
      path?.real !== undefined && cwd?.real !== undefined && path.real.startsWith(`${cwd.real}/`);
    if (isReader && isFile && (word.includes("/") || word.includes("."))) return "<path-within-cwd>";
    return takesRevs && fitsPattern("rev", word) ? "<rev>" : word;
  });
  return template.some((word, at) => word !== argv[at]) ? template : undefined;
}

/** From its content, so that the same rule is not added twice. */
function makeId(when: PolicyWhen, then: string): string {
  const subject =
    when.argv?.slice(0, 2).join("-") ?? [when.tool ?? when.request_type ?? "rule"].flat()[0] ?? "";
  const name = subject
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, 40);
  const hash = createHash("sha256")
    .update(JSON.stringify([when, then]))
    .digest("hex")
    .slice(0, 6);
  return `${name === "" ? "rule" : name}-${hash}`;
}
