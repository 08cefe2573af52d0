// The interrupt ladder: ask claude to stop, wait for it to acknowledge, then for the turn to end. Ending the process,
// the last rung, is up to the caller.
import { waitAtMost } from "../child.ts";
import type { ControlAnswer } from "./control.ts";

/** `silent`: claude did not acknowledge the interrupt. `running`: it did, but the turn continues. */
export type InterruptOutcome =
  | { kind: "over" }
  | { kind: "silent" }
  | { kind: "running" }
  | { kind: "refused"; error: string };

export const ACK_LIMIT_MS = 500;
export const RESULT_LIMIT_MS = 2000;

/** `asked` is the answer to the interrupt request, `turnOver` the end of the turn. */
export async function awaitInterrupt(
  asked: Promise<ControlAnswer>,
  turnOver: Promise<void>,
): Promise<InterruptOutcome> {
  let answer: ControlAnswer | undefined;
  let isOver = false;
  const acknowledged = asked.then((given) => {
    answer = given;
  });
  const over = turnOver.then(() => {
    isOver = true;
  });
  await waitAtMost(ACK_LIMIT_MS, Promise.race([acknowledged, over]));
  const given = answer as ControlAnswer | undefined;
  if (given?.ok === true) await waitAtMost(RESULT_LIMIT_MS, over);
  if (isOver) return { kind: "over" };
  if (given === undefined) return { kind: "silent" };
  return given.ok ? { kind: "running" } : { kind: "refused", error: given.error };
}
