// Compares an agent's version with the tested ones.
import { compareToTested } from "../../../protocol/tested-agents.ts";
import type { Check } from "../../checks.ts";

/** The agent still counts as ready: an old version may lack a feature, a new one usually works. */
export function addTested(check: Check, agent: string, said: string): Check {
  const compared = compareToTested(agent, said);
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
