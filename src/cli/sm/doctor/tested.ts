// Whether an agent is a version that our tests run on.
import { comparedToTested } from "../../../protocol/tested-agents.ts";
import type { Check } from "./check.ts";

/** It is ready all the same: an old one may lack what we use, a new one mostly works, but nobody has looked. */
export function withTested(check: Check, agent: string, said: string): Check {
  const compared = comparedToTested(agent, said);
  if (compared === undefined || check.status !== "ok") return check;
  if (compared.is === "newer") {
    return { ...check, text: `${check.text}; newer than the newest tested, ${compared.than}` };
  }
  return {
    ...check,
    text: `${check.text}; older than the oldest tested, ${compared.than}`,
    todo: "update it",
  };
}
