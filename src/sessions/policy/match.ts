// Whether a rule applies to a request, and if not, why. Pure. An allow rule needs certainty about everything that the
// request does; for `deny` and `ask`, one matching path is enough, as named or as it really is.
import { isDeepStrictEqual } from "node:util";
import { isBelow } from "../../base/commands/executables.ts";
import { getBaseName, hasExecutingOption, runsOtherPrograms } from "../../base/commands/programs.ts";
import type { ResolvedPath } from "../../base/commands/resolve-path.ts";
import type { PolicyRule, PolicyWhen } from "../../protocol/policy.ts";
import { ALLOWABLE } from "../../protocol/policy-checks.ts";
import { fitsPattern, isHoleName, readHole } from "../../protocol/policy-holes.ts";
import type { CountedRule, RequestFacts, SessionFacts } from "./types.ts";

interface Question {
  request: RequestFacts;
  session: SessionFacts;
  when: PolicyWhen;
  isAllow: boolean;
}

/** Each returns why the condition does not hold. */
const CONDITIONS: { [K in keyof PolicyWhen]-?: (question: Question) => string | undefined } = {
  backend: ({ request, when }) => differ("backend", request.backend, when.backend),
  session: ({ session, when }) => differ("session", session.session_id, when.session),
  label: ({ session, when }) => differ("label", session.label, when.label),
  request_type: ({ request, when }) => differ("request type", request.request_type, when.request_type),
  tool: ({ request, when }) => differ("tool", request.tool, when.tool),
  input: ({ request, when }) =>
    isDeepStrictEqual(request.input, when.input) ? undefined : "the input differs",
  argv: findArgvFault,
  paths_within: findPathsFault,
  cwd_within: ({ request: { cwd }, when, isAllow }) =>
    cwd !== undefined && isWithin(cwd, when.cwd_within, isAllow) ? undefined : "it runs in another directory",
  started_within: ({ session: { started }, when, isAllow }) =>
    started !== undefined && isWithin(started, when.started_within, isAllow)
      ? undefined
      : "the session was started in another directory",
};

/** Why the rule does not apply; undefined if it does. */
export function findMismatch(
  { rule, untilMs, uses }: CountedRule,
  request: RequestFacts,
  session: SessionFacts,
  nowMs: number,
): string | undefined {
  if (request.request_type === "budget") return "no rule answers for a budget"; // mutation: no-rule-raises-budgets
  if (untilMs !== undefined && untilMs <= nowMs) return "it has expired";
  if (rule.max_uses !== undefined && uses >= rule.max_uses) return "it is used up";
  const { when } = rule;
  const isAllow = rule.then === "allow";
  const question: Question = { request, session, when, isAllow };
  for (const name in when) {
    const fault = CONDITIONS[name as keyof PolicyWhen](question);
    if (fault !== undefined) return fault;
  }
  return isAllow ? findDoubt(rule, request) : undefined;
}

/** Why an allow rule whose conditions hold does not say enough about this request. */
function findDoubt({ when }: PolicyRule, { request_type, fault }: RequestFacts): string | undefined {
  if (!ALLOWABLE.has(request_type)) return `a rule cannot allow ${request_type} requests`;
  if (fault !== undefined) return fault;
  if (request_type === "command" && when.argv === undefined) return "the rule does not name the command";
  if (request_type === "file_change" && when.paths_within === undefined)
    return "the rule does not name the files' directory";
  if (request_type === "tool" && when.tool === undefined) return "the rule does not name the tool";
  return undefined;
}

/** A list without entries matches nothing. */
function differ(
  name: string,
  value: string | undefined,
  wanted: string | string[] | undefined,
): string | undefined {
  const isWanted = typeof wanted === "string" ? wanted === value : wanted?.some((one) => one === value);
  return value !== undefined && isWanted === true ? undefined : `another ${name}`;
}

function findArgvFault({ request, when, isAllow }: Question): string | undefined {
  const { argv, executable } = request;
  const template = when.argv ?? [];
  if (request.request_type !== "command") return "not a command";
  if (argv === undefined) return "the command is not plain words";
  if (template.length === 0 || argv.length !== template.length) return "another command";
  const misfit = template.find((word, at) => !fits(word, argv[at] ?? "", request, isAllow));
  if (misfit !== undefined)
    return readHole(misfit) === undefined ? "another command" : `a word does not fit ${misfit}`;
  if (!isAllow) return undefined;
  const [program = ""] = argv;
  if (executable === undefined)
    return `${program} was not found outside directories that agents can write to`;
  const isApplet = /^(busybox|toybox|coreutils)/.test(getBaseName(executable));
  if (runsOtherPrograms(program) || (runsOtherPrograms(executable) && !isApplet))
    return `${program} runs other programs or code`;
  return hasExecutingOption(argv) ? "an option runs another program or writes a file" : undefined;
}

function fits(word: string, value: string, { words, cwd }: RequestFacts, isAllow: boolean): boolean {
  const hole = readHole(word);
  if (hole === undefined || !isHoleName(hole)) return word === value;
  if (value.startsWith("-")) return false;
  if (hole !== "path-within-cwd") return fitsPattern(hole, value);
  const path = words.get(value);
  const root = cwd?.real;
  return path !== undefined && root !== undefined && isWithin(path, root, isAllow);
}

function findPathsFault({ request: { paths }, when, isAllow }: Question): string | undefined {
  if (paths.length === 0) return "it names no files";
  const within = (path: ResolvedPath) => isWithin(path, when.paths_within, isAllow);
  const holds = isAllow ? paths.every(within) : paths.some(within);
  return holds ? undefined : "a file is elsewhere, hidden or has a second hard link";
}

/** To allow, its real place must be certain and below the root, without hidden names on the way. */
function isWithin(path: ResolvedPath, roots: string | string[] | undefined, isAllow: boolean): boolean {
  return [roots ?? []].flat().some((given) => {
    const root = given.length > 1 ? given.replace(/\/+$/, "") || "/" : given;
    if (!isAllow) return [path.lexical, path.real].some((one) => one !== undefined && isBelow(one, root));
    if (path.real === undefined || path.isLinked === true || !isBelow(path.real, root)) return false;
    const below = path.real.slice(root.length).split("/");
    return !below.some((name) => name.startsWith("."));
  });
}
