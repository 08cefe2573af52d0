// Files that another agent's searches must skip. Our gate judges only where a search starts, not each file that it finds,
// so the agent has to skip those itself.
import { findPathsBelow, listHiddenPaths } from "../hidden-places.ts";
import { matchesToDeny } from "../permissions/rules.ts";
import type { PermissionRule } from "../permissions/types.ts";
import { listGlobAlternatives } from "../workspace/glob.ts";
import type { ExternalServices } from "./decide.ts";

/** Its tools that show file contents. */
const READING = ["Read", "Grep", "Glob"];

type Scope = Pick<ExternalServices, "agent" | "config" | "host" | "provider" | "subAgent"> & {
  workspace: { readonly root: string };
};

/** Globs as in a .gitignore of the workspace. */
export async function listUnreadable(services: Scope): Promise<string[]> {
  const { agent, config, host, provider, subAgent, workspace } = services;
  const { executor } = provider.external;
  const places = await findPathsBelow(workspace.root, listHiddenPaths(host.env, config.providers));
  // Contains the main conversation.
  const ours = subAgent === undefined ? places : [...places, ".demian"];
  const rules = [...config.permissions, ...agent.permissions].filter((rule) => isAbout(rule, executor));
  return [
    ...ours.map((path) => path.replace(/[\\*?[\]]/g, "\\$&")),
    ...rules.flatMap(({ match }) => expandGlob(match?.pathGlob)),
  ];
}

function isAbout({ tool, decision }: PermissionRule, executor: string): boolean {
  return (
    decision === "deny" &&
    READING.some((name) => matchesToDeny({ tool, decision }, { name, executor }, undefined))
  );
}

/** None for an invalid glob: such a rule denies every call anyway. */
function expandGlob(glob: string | undefined): string[] {
  if (glob === undefined) return [];
  try {
    return listGlobAlternatives(glob);
  } catch {
    return [];
  }
}
