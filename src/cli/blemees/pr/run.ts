// Shows what `sm pr` would push and where, asks, pushes, and opens the pull request.
import { CodedError, toMessage } from "../../../base/coded-error.ts";
import { sanitizeLine } from "../../../base/sanitize.ts";
import { defined } from "../../../base/values.ts";
import {
  commitAll,
  findGit,
  findRepository,
  type Git,
  makeCompareLink,
  type PushPlan,
  planPush,
  push,
  type Repository,
  readForge,
} from "../../../git/index.ts";
import { type Arguments, readTextFlag, UsageError } from "../../command.ts";
import { show } from "../../output.ts";
import type { BlemeesContext } from "../command.ts";
import { findSession } from "../find.ts";
import { openPullRequest } from "./forge-program.ts";

export async function openForSession(given: Arguments, context: BlemeesContext): Promise<number> {
  const session = await findSession(await context.connect(), given.words[0] ?? "");
  if (session.cwd === undefined) throw new UsageError("the session has no directory");
  const { git, repository } = await openRepository(session.cwd, context);
  const message = readTextFlag(given, "commit");
  const wish = defined({ remote: readTextFlag(given, "remote"), base: readTextFlag(given, "base") });
  const before = await planPush(git, repository, wish);
  if (before.commits.length === 0 && (message === undefined || before.changed === 0))
    throw nothingError(before);
  if (!(await isConfirmed(before, given, context))) return 1;
  if (message !== undefined && before.changed > 0) await commitAll(git, repository, message);
  const plan = message === undefined ? before : await planPush(git, repository, wish);
  await push(git, repository, plan);
  context.output.note(`· pushed ${plan.branch} to ${plan.url}`);
  const result = {
    branch: plan.branch,
    base: plan.base,
    remote_url: plan.url,
    ...(await open(plan, given, context, session.title)),
  };
  return show(context, result, () => [
    result.url ?? `Pushed ${plan.branch}; open the pull request on the page of ${plan.url}`,
  ]);
}

async function openRepository(
  cwd: string,
  { env }: BlemeesContext,
): Promise<{ git: Git; repository: Repository }> {
  const found = await findGit(env);
  if (found.git === undefined) throw new CodedError("git_failed", found.reason);
  const repository = await findRepository(cwd);
  if (repository.root === undefined) throw new CodedError("worktree_refused", repository.reason);
  return { git: found.git, repository };
}

async function isConfirmed(plan: PushPlan, given: Arguments, context: BlemeesContext): Promise<boolean> {
  const message = readTextFlag(given, "commit");
  const { output } = context;
  for (const line of describePlan(plan, message)) output.note(sanitizeLine(line));
  if (given.flags["yes"]) return true;
  if (context.confirm === undefined)
    throw new UsageError(`nothing was pushed: this needs a confirmation; add --yes to push to ${plan.url}`);
  return context.confirm(`Push ${sanitizeLine(plan.branch)} and open a pull request?`);
}

function describePlan(plan: PushPlan, message: string | undefined): string[] {
  const { branch, base, url, commits, changed } = plan;
  const files = `${changed} changed or untracked ${changed === 1 ? "file" : "files"}`;
  return [
    `${branch} → ${base} at ${url}`,
    ...(message === undefined || changed === 0 ? [] : [`  + a commit of ${files}: ${message}`]),
    ...commits.map(({ id, subject }) => `  ${id} ${subject}`),
    ...(message !== undefined || changed === 0
      ? []
      : [`  not included: ${files} (--commit MESSAGE commits them)`]),
  ];
}

/** The address of the pull request, or of the page to open it on. */
async function open(
  plan: PushPlan,
  given: Arguments,
  context: BlemeesContext,
  sessionTitle: string | undefined,
): Promise<{ url?: string; opened: boolean }> {
  const forge = readForge(plan.url);
  if (forge === undefined) return { opened: false };
  const [first, ...others] = plan.commits;
  const title =
    readTextFlag(given, "title") ??
    (others.length === 0 ? first?.subject : undefined) ??
    sessionTitle ??
    plan.branch;
  const body = readTextFlag(given, "body") ?? plan.commits.map(({ subject }) => `- ${subject}`).join("\n");
  try {
    const wish = {
      ...{ forge, title, body },
      branch: plan.branch,
      base: plan.base,
      isDraft: given.flags["draft"] === true,
    };
    const url = await openPullRequest(wish, context.env);
    if (url !== undefined) return { url, opened: true };
  } catch (error) {
    context.output.note(`· ${toMessage(error)}; open it by hand:`);
  }
  return { url: makeCompareLink(forge, plan.base, plan.branch), opened: false };
}

function nothingError({ branch, base, changed }: PushPlan): CodedError {
  const hint = changed === 0 ? "" : `; ${changed} files are changed but not committed: add --commit MESSAGE`;
  return new CodedError("worktree_refused", `${branch} has no commit that ${base} does not have${hint}`);
}
