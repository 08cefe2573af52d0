// What another agent's own searches must not come upon. Our gate judges the place that a search begins at, and not each
// file that it finds: the agent has to leave those out itself.
import { hiddenPlaces, placesBelow } from "../hidden-places.ts";
import { fitsToDeny } from "../permissions/rules.ts";
import type { PermissionRule } from "../permissions/types.ts";
import { globAlternatives } from "../workspace/glob.ts";
import type { ExternalServices } from "./decide.ts";

/** Any of its tools that shows what is in files. */
const READING = ["Read", "Grep", "Glob"];

type Asked = Pick<ExternalServices, "agent" | "config" | "host" | "provider" | "subAgent"> & {
  workspace: { readonly root: string };
};

/** Globs as in a .gitignore of the workspace. */
export async function unreadable(services: Asked): Promise<string[]> {
  const { agent, config, host, provider, subAgent, workspace } = services;
  const { executor } = provider.external;
  const places = await placesBelow(workspace.root, hiddenPlaces(host.env, config.providers));
  // The main conversation is kept there.
  const ours = subAgent === undefined ? places : [...places, ".demian"];
  const rules = [...config.permissions, ...agent.permissions].filter((rule) => isAbout(rule, executor));
  return [
    ...ours.map((path) => path.replace(/[\\*?[\]]/g, "\\$&")),
    ...rules.flatMap(({ match }) => patternsOf(match?.pathGlob)),
  ];
}

function isAbout({ tool, decision }: PermissionRule, executor: string): boolean {
  return (
    decision === "deny" &&
    READING.some((name) => fitsToDeny({ tool, decision }, { name, executor }, undefined))
  );
}

/** A glob that cannot be read denies every call by itself. */
function patternsOf(glob: string | undefined): string[] {
  if (glob === undefined) return [];
  try {
    return globAlternatives(glob);
  } catch {
    return [];
  }
}
