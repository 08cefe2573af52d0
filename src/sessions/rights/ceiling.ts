// The ceiling for children: a session that an agent starts may do at most what the agent's own session may. Pure, except
// that paths are resolved.
import { isAbsolute, relative } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { LEVELS, type LevelName, type SessionRights, WIDEST } from "../../backends/types.ts";
import { resolvePath } from "../../base/commands/resolve-path.ts";
import { defined } from "../../base/values.ts";

/** A session's rights, with what is in its row. */
export interface RightsOf extends SessionRights {
  backend: string;
  may_answer: boolean;
  /** It has the tools for managing other agents. */
  manager: boolean;
  /** Names of its MCP servers: programs and services that its agent uses without a sandbox. */
  mcp: readonly string[];
}

export interface Escalation {
  /** `permission_mode`, `config.notify`, `may_answer`. */
  option: string;
  why: string;
  /** The child lacks an option of its parent. */
  isMissing?: true;
  /** What to do, if that is not to leave the option out. */
  remedy?: string;
}

/** The first right of the child that exceeds its parent's. */
export async function findEscalation(child: RightsOf, parent: RightsOf): Promise<Escalation | undefined> {
  return (
    compareLevels(child, parent) ??
    compareDenies(child, parent) ??
    compareCode(child, parent) ??
    (await compareRoots(child, parent)) ??
    compareGrants(child, parent)
  );
}

function compareGrants(child: RightsOf, parent: RightsOf): Escalation | undefined {
  if (child.may_answer && !parent.may_answer)
    return { option: "may_answer", why: "its parent was spawned without --may-answer" };
  if (child.manager && !parent.manager)
    return { option: "manager", why: "its parent was spawned without --manager" };
  const server = child.mcp.find((name) => !parent.mcp.includes(name));
  return server === undefined
    ? undefined
    : { option: "mcp", why: `its parent does not have the MCP server ${server}` };
}

const WIDER: Readonly<Record<LevelName, string>> = {
  approvals: "it would ask less than its parent must",
  mode: "its mode allows more than its parent's",
  sandbox: "its sandbox allows more than its parent's",
  network: "it would have more network access than its parent",
};

function compareLevels(child: RightsOf, parent: RightsOf): Escalation | undefined {
  for (const name of LEVELS) {
    const [wanted, has] = [child.levels[name], parent.levels[name]];
    if (wanted.level > (has.limit ?? has.level))
      return { option: wanted.option, why: WIDER[name], ...defined({ remedy: wanted.remedy }) };
    // The user's configuration of the agent, which then decides, may allow anything.
    const isOpen = child.backend === parent.backend && has.isSet === true && wanted.isSet !== true;
    if (isOpen && has.level < WIDEST[name]) return lacksOption(has.option, "limits its parent");
  }
  return undefined;
}

function lacksOption(option: string, why: string): Escalation {
  return { option, why: `it lacks this option, which ${why}`, isMissing: true };
}

function compareDenies(child: RightsOf, parent: RightsOf): Escalation | undefined {
  const missing = parent.denies.find(({ what }) => !child.denies.some((denied) => denied.what === what));
  return missing && { option: missing.option, why: `its parent may not use ${missing.what}` };
}

/** In both directions: settings may also restrict. */
function compareCode(child: RightsOf, parent: RightsOf): Escalation | undefined {
  const isSame = child.backend === parent.backend;
  const own = { ...child.code, ...child.additions };
  const theirs = { ...parent.code, ...parent.additions };
  const more = Object.keys(own).find((name) => !isSame || !isDeepStrictEqual(own[name], theirs[name]));
  if (more !== undefined)
    return { option: more, why: "it can run code or give rights, and its parent does not have it" };
  const less = Object.keys(parent.code).find((name) => !isSame || own[name] === undefined);
  return less === undefined ? undefined : lacksOption(less, "may limit its parent");
}

async function compareRoots(child: RightsOf, parent: RightsOf): Promise<Escalation | undefined> {
  const { sandbox, approvals, mode } = parent.levels;
  const asksNothing = approvals.level === WIDEST.approvals || mode.level === WIDEST.mode;
  if (sandbox.level === WIDEST.sandbox && asksNothing) return undefined;
  const roots = await resolveRoots(parent);
  for (const { path, real, option } of await resolveRoots(child)) {
    const isInside = roots.some((root) => root.path === path || isBelow(root.real, real));
    if (!isInside) return { option, why: `${path} is outside its parent's directories` };
  }
  return undefined;
}

/** As the agent resolves them: without a directory of its own it runs in the daemon's; others are relative to that. */
async function resolveRoots({ roots }: RightsOf) {
  const given = roots.find(({ option }) => option === "cwd")?.path;
  const cwd = given === undefined ? process.cwd() : joinPath(process.cwd(), given);
  const others = roots.filter(({ option }) => option !== "cwd");
  return Promise.all(
    [{ path: cwd, option: "cwd" }, ...others].map(async ({ path, option }) => {
      const full = joinPath(cwd, path);
      // Undefined for a path whose place is not certain.
      const { real } = await resolvePath(full, undefined);
      return { path: full, real, option };
    }),
  );
}

/** Keeps `..`, which leads elsewhere after a link. */
function joinPath(base: string, path: string): string {
  return isAbsolute(path) ? path : `${base}/${path}`;
}

function isBelow(root: string | undefined, path: string | undefined): boolean {
  if (root === undefined || path === undefined) return false;
  const rest = relative(root, path);
  return rest === "" || (!rest.startsWith("..") && !isAbsolute(rest));
}
