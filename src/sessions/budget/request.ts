// The request to a person when a budget is used up: raise it, stop its sessions, or leave them as they are. Pure.
import type { Ask } from "../../backends/types.ts";
import type { BudgetLimit } from "../../protocol/budget.ts";
import type { Answer, Choice } from "../../protocol/requests.ts";
import type { BudgetAccount, Member } from "./accounts.ts";
import { planRaise, type Raise, toLimit } from "./changes.ts";
import { describeAmount, describeUse } from "./words.ts";

/** The generation of requests that the daemon asks about budgets, not an agent. */
export const BUDGET_GENERATION = "budget";
/** The option of the larger raise. */
const MORE = "double";
const STEPS = [
  { factor: 0.5, option: undefined },
  { factor: 1, option: MORE },
] as const;

/** New limits of an account, by the option of the choice. */
type Targets = ReadonlyMap<string | undefined, readonly { limit_of: BudgetLimit; to: number }[]>;

export interface BudgetAsk {
  ask: Ask;
  /** Exactly what the choices say, whatever is used until one is taken. */
  targets: Targets;
}

/** `accounts`: of one holder, those that hold up sessions. */
export function toBudgetAsk(native_id: string, accounts: readonly BudgetAccount[]): BudgetAsk {
  const lines = accounts.map((account) => describeUse(account));
  const [title = ""] = lines;
  const targets = new Map(
    STEPS.map(({ factor, option }) => [
      option,
      accounts.map((account) => ({ limit_of: account.limit_of, to: findTarget(account, factor) })),
    ]),
  );
  const choices = [...targets].map(([option, own]) => toRaiseChoice(accounts, own, option));
  const payload = { title, reason: [...lines.slice(1), WHY].join("\n"), choices: [...choices, LEAVE, STOP] };
  return { ask: { native_id, request_type: "budget", payload }, targets };
}

const WHY = "Its sessions are held: no message is delivered, and running turns were interrupted.";
const LEAVE: Choice = {
  decision: "decline",
  label: "Leave it held",
  meaning: "leaves it held: messages stay queued; sm budget raises it later",
};
const STOP: Choice = {
  decision: "cancel",
  label: "Stop its sessions",
  meaning: "stops the session and all below it",
};

function toRaiseChoice(
  accounts: readonly BudgetAccount[],
  own: readonly { limit_of: BudgetLimit; to: number }[],
  option: string | undefined,
): Choice {
  const limits = accounts.map((account, at) => describeAmount(account, own[at]?.to ?? 0));
  const isMore = planAnswer(own, accounts).length > accounts.length;
  return {
    decision: "accept",
    ...(option === undefined ? {} : { option }),
    label: `Raise to ${limits.join(", ")}`,
    meaning: `raises it to ${limits.join(", ")}${isMore ? ", and budgets above it by what they lack" : ""}; its sessions continue`,
  };
}

/** More than is used: a turn may have gone over the limit. */
function findTarget({ limit, used, limit_of, factor: unit }: BudgetAccount, factor: number): number {
  return toLimit((Math.max(limit, used) + limit * factor) / unit, limit_of) * unit;
}

/** What an answer does. */
export type BudgetVerdict = { kind: "raise"; raises: Raise[] } | { kind: "stop" } | { kind: "leave" };

/** `accounts`: those of the holder, as they are now. */
export function readBudgetAnswer(
  answer: Answer,
  targets: Targets,
  accounts: readonly BudgetAccount[],
): BudgetVerdict {
  const { decision, option } = "decision" in answer ? answer : { decision: "decline", option: undefined };
  if (decision === "cancel") return { kind: "stop" };
  const own = targets.get(option);
  if (decision !== "accept" || own === undefined) return { kind: "leave" };
  return { kind: "raise", raises: planAnswer(own, accounts) };
}

function planAnswer(
  own: readonly { limit_of: BudgetLimit; to: number }[],
  accounts: readonly BudgetAccount[],
): Raise[] {
  return own.flatMap(({ limit_of, to }) => {
    const account = accounts.find((one) => one.limit_of === limit_of);
    return account === undefined ? [] : planRaise(account, to);
  });
}

export interface Blocked {
  accounts: BudgetAccount[];
  /** Their limits: a request about others is out of date. */
  limits: string;
  /** With the messages that wait: what a person decided about these is not asked again. */
  signature: string;
}

/** By holder, the accounts that hold up sessions which have something to do. */
export function groupBlocked(
  wanting: readonly Member[],
  findBlocking: (session_id: string) => readonly BudgetAccount[],
): Map<string, Blocked> {
  const held = new Map<BudgetAccount, string[]>();
  for (const { session_id, wanted = "" } of wanting)
    for (const account of findBlocking(session_id))
      held.set(account, [...(held.get(account) ?? []), `${session_id} ${wanted}`]);
  const blocked = new Map<string, Blocked>();
  for (const [account, waiting] of held) {
    const { session_id } = account.holder;
    const known = blocked.get(session_id) ?? { accounts: [], limits: "", signature: "" };
    const limits = `${known.limits} ${account.limit_of} ${account.limit}`;
    const signature = `${known.signature} ${limits} ${waiting.sort().join(" ")}`;
    blocked.set(session_id, { accounts: [...known.accounts, account], limits, signature });
  }
  return blocked;
}
