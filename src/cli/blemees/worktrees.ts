// `sm worktrees`: lists the git worktrees that sessions were started in, and removes those that have nothing to lose.
import { sanitizeLine } from "../../base/sanitize.ts";
import type { WorktreeView } from "../../client/index.ts";
import { formatAge } from "../../client/view/format.ts";
import { didYouMean, UsageError } from "../command.ts";
import { formatTable, show } from "../output.ts";
import type { BlemeesCommand, BlemeesContext } from "./command.ts";

const ACTIONS = ["list", "path", "rm"];

export const WORKTREES: BlemeesCommand = {
  name: "worktrees",
  aliases: ["worktree"],
  usage: "worktrees [list|path NAME|rm NAME]",
  summary: "list the worktrees that sessions were started in, print the path of one, or remove one",
  words: [0, 2],
  completes: ACTIONS,
  examples: ["worktrees", 'cd "$(sm worktrees path fix-login)"', "worktrees rm fix-login"],
  notes: [
    "rm refuses if there are uncommitted changes, or commits that are neither merged nor pushed. It removes the branch too.",
  ],
  async run(given, context) {
    const [action = "list", name, ...more] = given.words;
    if (!ACTIONS.includes(action))
      throw new UsageError(`unknown action "${action}"${didYouMean(action, ACTIONS)}`);
    if (action === "list" && name === undefined) return list(context);
    if (name === undefined || more.length > 0 || action === "list")
      throw new UsageError(
        action === "list" ? "list takes no name" : `${action} needs the name of a worktree`,
      );
    return action === "path" ? printPath(name, context) : remove(name, context);
  },
};

async function list(context: BlemeesContext): Promise<number> {
  const worktrees = await (await context.connect()).worktrees();
  if (worktrees.length === 0 && !context.isJson)
    context.output.note('No worktrees; make one with: sm spawn AGENT --worktree "…"');
  const rows = worktrees.map((one) => toCells(one, Date.now()));
  return show(context, { worktrees }, () =>
    rows.length === 0 ? [] : formatTable([HEAD, ...rows], context.output.columns),
  );
}

const HEAD = ["NAME", "BRANCH", "AGE", "STATE", "SESSION", "PATH"];

function toCells(view: WorktreeView, nowMs: number): string[] {
  const { name, branch = "-", created_at_ms, session_id, path } = view;
  const age = created_at_ms === undefined ? "-" : formatAge(Math.max(0, nowMs - created_at_ms));
  return [name, branch, age, describe(view), session_id?.slice(0, 8) ?? "-", path].map(sanitizeLine);
}

function describe({ changed = 0, unmerged = 0, in_use, fault }: WorktreeView): string {
  if (fault !== undefined) return fault;
  const facts = [
    ...(in_use ? ["in use"] : []),
    ...(changed === 0 ? [] : [`${changed} changed`]),
    ...(unmerged === 0 ? [] : [`${unmerged} unmerged`]),
  ];
  return facts.length === 0 ? "clean, merged" : facts.join(", ");
}

async function printPath(name: string, context: BlemeesContext): Promise<number> {
  const all = await (await context.connect()).worktrees();
  const found = all.filter((one) => one.name === name || one.path === name);
  const [one] = found;
  if (one === undefined)
    throw new UsageError(
      `no worktree "${name}"${didYouMean(
        name,
        all.map((view) => view.name),
      )}`,
    );
  if (found.length > 1)
    throw new UsageError(
      `"${name}" is the name of ${found.length} worktrees: ${found.map(({ path }) => path).join(", ")}`,
    );
  return show(context, one, () => [one.path]);
}

async function remove(name: string, context: BlemeesContext): Promise<number> {
  const removed = await (await context.connect()).removeWorktree(name);
  return show(context, removed, () => [`Removed ${removed.path}`]);
}
