// Messages about plans from `claudecode-plan`, for the plain chat and the screen.

/** The message of /use-plan without a text. */
export const CARRY_OUT = "Carry out this plan.";

/** `how`: the key or command that selects a provider. */
export function explainPlan(how: string): string {
  return `this is only a plan; nothing was changed. /use-plan [TEXT] carries it out (${how} selects the provider that does)`;
}

export function explainNoPlan(how: string): string {
  return `there is no plan yet; the provider claudecode-plan makes one: ${how}`;
}
