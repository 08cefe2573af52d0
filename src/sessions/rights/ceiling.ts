// The ceiling for children: a session that an agent starts may do at most what the agent's own session may. Pure, except
// that paths are resolved.
import { realpathSync } from "node:fs";
import { isAbsolute, relative, resolve } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { LevelName, SessionRights } from "../../backends/types.ts";

/** A session's rights, with what is in its row. */
export interface RightsOf extends SessionRights {
  backend: string;
  may_answer: boolean;
}

export interface Escalation {
  /** `permission_mode`, `config.notify`, `may_answer`. */
  option: string;
  why: string;
}

/** At this level of `sandbox`, without approvals, directories do not limit a session. */
const EVERYTHING = 2;

/** The first right of the child that exceeds its parent's. */
export function findEscalation(child: RightsOf, parent: RightsOf): Escalation | undefined {
  return (
    compareLevels(child, parent) ??
    compareDenies(child, parent) ??
    compareCode(child, parent) ??
    compareRoots(child, parent) ??
    (child.may_answer && !parent.may_answer
      ? { option: "may_answer", why: "its parent was spawned without --may-answer" }
      : undefined)
  );
}

const WIDER: Readonly<Record<LevelName, string>> = {
  approvals: "it would not ask, and its parent must",
  mode: "its mode allows more than its parent's",
  sandbox: "its sandbox allows more than its parent's",
  network: "it would have more network access than its parent",
};

function compareLevels(child: RightsOf, parent: RightsOf): Escalation | undefined {
  const names = Object.keys(WIDER) as LevelName[];
  const wider = names.find((name) => child.levels[name].level > parent.levels[name].level);
  return wider === undefined ? undefined : { option: child.levels[wider].option, why: WIDER[wider] };
}

function compareDenies(child: RightsOf, parent: RightsOf): Escalation | undefined {
  const missing = parent.denies.find((denied) => !child.denies.includes(denied));
  if (missing === undefined) return undefined;
  return { option: "disallowed_tools", why: `its parent may not use ${missing}` };
}

function compareCode(child: RightsOf, parent: RightsOf): Escalation | undefined {
  const isSame = (option: string): boolean =>
    child.backend === parent.backend && isDeepStrictEqual(child.code[option], parent.code[option]);
  const option = Object.keys(child.code).find((name) => !isSame(name));
  return option === undefined
    ? undefined
    : { option, why: "it can run code, and its parent does not have it" };
}

function compareRoots(child: RightsOf, parent: RightsOf): Escalation | undefined {
  const { sandbox, approvals, mode } = parent.levels;
  if (sandbox.level === EVERYTHING && (approvals.level > 0 || mode.level > 2)) return undefined;
  const roots = listRoots(parent).map(({ path }) => path);
  const outside = listRoots(child).find(({ path }) => !roots.some((root) => isWithin(root, path)));
  if (outside === undefined) return undefined;
  return { option: outside.option, why: `${outside.path} is outside its parent's directories` };
}

/** Without a directory of its own, an agent runs in the daemon's. */
function listRoots({ roots }: RightsOf): RightsOf["roots"] {
  return roots.some(({ option }) => option === "cwd")
    ? roots
    : [{ path: process.cwd(), option: "cwd" }, ...roots];
}

function isWithin(root: string, path: string): boolean {
  const rest = relative(toReal(root), toReal(path));
  return rest === "" || (!rest.startsWith("..") && !isAbsolute(rest));
}

/** A path that does not exist cannot be a link. */
function toReal(path: string): string {
  const absolute = resolve(path);
  try {
    return realpathSync(absolute);
  } catch {
    return absolute;
  }
}
