// What is said about a plan that `claudecode-plan` made and /use-plan carries out: the same in lines and on the screen.

/** The message, where somebody has no words of their own. */
export const CARRY_OUT = "Carry out this plan.";

/** `how`: what chooses another provider here. */
export function planMade(how: string): string {
  return `this is a plan, and nothing of it was done; /use-plan sends it with your next words (${how} chooses who carries it out)`;
}

export function noPlan(how: string): string {
  return `there is no plan; the provider claudecode-plan makes one: ${how}`;
}
