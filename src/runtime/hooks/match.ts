// Matches hooks against an input: the event, and the tool and agent names if given.
import type { Hook, HookInput } from "./types.ts";

export function matchesHook({ event, match }: Pick<Hook, "event" | "match">, input: HookInput): boolean {
  if (event !== input.event) return false;
  return matchesName(match?.tool, input.toolName) && matchesName(match?.agent, input.agent);
}

/** "a|b", "*"; `demian.bash` and `*.bash` are `bash`. An empty list matches nothing; "*" matches a missing name too. */
function matchesName(pattern: string | undefined, name: string | undefined): boolean {
  if (pattern === undefined) return true;
  return pattern.split("|").some((part) => {
    const wanted = part.trim().replace(/^(demian|\*)\.(?=.)/, "");
    return wanted === "*" || (wanted !== "" && wanted === name);
  });
}
