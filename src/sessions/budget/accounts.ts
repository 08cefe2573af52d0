// The budgets of a family: what each limit has left, from what its members have used and what is set aside for
// descendants with limits of their own. Pure.
import type { Budget, BudgetLimit, Spent } from "../../protocol/budget.ts";

type Kind = "cost_usd" | "tokens" | "turns" | "wall_ms";
export type Amounts = Pick<Spent, Kind>;

interface Dimension {
  readonly limit_of: BudgetLimit;
  readonly kind: Kind;
  /** Of the limit, in units of the amounts. */
  readonly factor: number;
}

export const DIMENSIONS: readonly Dimension[] = [
  { limit_of: "max_cost_usd", kind: "cost_usd", factor: 1 },
  { limit_of: "max_tokens", kind: "tokens", factor: 1 },
  { limit_of: "max_turns", kind: "turns", factor: 1 },
  { limit_of: "max_wall_s", kind: "wall_ms", factor: 1000 },
];

export interface Member {
  readonly session_id: string;
  readonly parent?: string | undefined;
  readonly name?: string | undefined;
  readonly budget?: Budget | undefined;
  readonly granted_at_ms: number;
  /** By its ended turns, and by children that were deleted. */
  readonly spent: Spent;
  /** By its running turn. */
  readonly running?: Amounts | undefined;
  /** The running turn used tokens without a known price. */
  readonly isRunningUnpriced?: true;
  readonly isStopped: boolean;
  /** A message waits to be delivered. */
  readonly wants: boolean;
  /** The newest of these messages. */
  readonly wanted?: string | undefined;
}

export type Members = ReadonlyMap<string, Member>;

/** One limit, with everything that it covers. */
export interface BudgetAccount extends Dimension {
  readonly holder: Member;
  /** As it was set, and as far as the ancestors' budgets cover it. In units of the amounts, as are all others. */
  readonly limit: number;
  grant: number;
  /** By everything below, including other accounts. */
  used: number;
  reserved: number;
  /** Of the grant, neither used nor reserved; negative if more was used. */
  left: number;
  above: BudgetAccount | undefined;
  readonly below: BudgetAccount[];
  /** Sessions that draw on it directly. */
  readonly drawers: Member[];
  isActive: boolean;
  isUnpriced: boolean;
}

export interface BudgetAccounts {
  readonly all: readonly BudgetAccount[];
  /** The accounts that a session draws on, one for each kind that is limited. */
  of(session_id: string): readonly BudgetAccount[];
}

/** Float noise of sums. */
export const EPSILON = 1e-9;

export function computeAccounts(members: Members): BudgetAccounts {
  const drawn = new Map<string, BudgetAccount[]>();
  const all = DIMENSIONS.flatMap((dimension) => computeKind(members, dimension, drawn));
  return { all, of: (session_id) => drawn.get(session_id) ?? [] };
}

function computeKind(
  members: Members,
  dimension: Dimension,
  drawn: Map<string, BudgetAccount[]>,
): BudgetAccount[] {
  const accounts = new Map<string, BudgetAccount>();
  for (const member of members.values()) {
    const limit = member.budget?.[dimension.limit_of];
    if (limit !== undefined) accounts.set(member.session_id, openAccount(dimension, member, limit));
  }
  if (accounts.size === 0) return [];
  for (const account of accounts.values()) {
    account.above = findHolder(account.holder.parent, members, accounts);
    if (account.above === account) account.above = undefined;
    account.above?.below.push(account);
  }
  const { kind } = dimension;
  for (const member of members.values()) {
    const account = findHolder(member.session_id, members, accounts);
    if (account === undefined) continue;
    account.drawers.push(member);
    account.used += member.spent[kind] + (member.running?.[kind] ?? 0);
    if (!member.isStopped || member.running !== undefined) account.isActive = true;
    if (kind === "cost_usd" && isUnpriced(member)) account.isUnpriced = true;
    drawn.set(member.session_id, [...(drawn.get(member.session_id) ?? []), account]);
  }
  const roots = [...accounts.values()].filter(({ above }) => above === undefined);
  for (const root of roots) {
    addUp(root);
    root.grant = root.limit;
    share(root);
  }
  return [...accounts.values()];
}

function openAccount(dimension: Dimension, holder: Member, limit: number): BudgetAccount {
  return {
    ...dimension,
    holder,
    limit: limit * dimension.factor,
    grant: 0,
    used: 0,
    reserved: 0,
    left: 0,
    above: undefined,
    below: [],
    drawers: [],
    isActive: false,
    isUnpriced: false,
  };
}

/** The account of the session or its nearest ancestor that has one. */
function findHolder(
  start: string | undefined,
  members: Members,
  accounts: ReadonlyMap<string, BudgetAccount>,
): BudgetAccount | undefined {
  const seen = new Set<string>();
  for (let id = start; id !== undefined && !seen.has(id); id = members.get(id)?.parent) {
    seen.add(id);
    const account = accounts.get(id);
    if (account !== undefined) return account;
  }
  return undefined;
}

/** From the leaves up: use counts for every account above. */
function addUp(account: BudgetAccount): void {
  for (const one of account.below) {
    addUp(one);
    account.used += one.used;
    account.isActive ||= one.isActive;
    account.isUnpriced ||= one.isUnpriced;
  }
}

/**
 * From the root down: what is not used is set aside for the accounts below, the oldest grant first, so that grants never
 * add up to more than there is. Stopped ones keep what they used and no more; they would get what is left then.
 */
function share(account: BudgetAccount): void {
  let left = account.grant - account.used;
  const byAge = account.below.toSorted(compareGrants);
  for (const one of [...byAge.filter(({ isActive }) => isActive), ...byAge.filter((one) => !one.isActive)]) {
    const wanted = Math.max(0, one.limit - one.used);
    const given = Math.min(wanted, Math.max(0, left)); // mutation: grants-fit
    one.grant = one.used > one.limit ? one.limit : one.used + given;
    if (one.isActive) {
      left -= given; // mutation: grants-are-reserved
      account.reserved += given;
    }
    share(one);
  }
  account.left = left;
}

function compareGrants({ holder: a }: BudgetAccount, { holder: b }: BudgetAccount): number {
  return a.granted_at_ms - b.granted_at_ms || (a.session_id < b.session_id ? -1 : 1);
}

function isUnpriced({ spent, isRunningUnpriced }: Member): boolean {
  return spent.unpriced_turns > 0 || isRunningUnpriced === true;
}

/** Nothing may start: all of it is used or set aside. */
export function isExhausted({ left }: BudgetAccount): boolean {
  return left <= EPSILON; // mutation: budgets-end
}

/** Its running turns have to end. A turn that was started within `max_turns` may continue. */
export function isOver({ kind, used, grant, left }: BudgetAccount): boolean {
  if (left < -EPSILON) return true;
  return kind !== "turns" && used >= grant - EPSILON;
}

/** Running turns that may use the rest of an account. */
export interface Throttling {
  account: BudgetAccount;
  running: Member[];
}

/**
 * The account, or one above it, of which running turns may still use all that is left, as far as turns of their sessions
 * have shown: one more could go over the limit by more than its own use. Undefined: another turn may start.
 */
export function findThrottling(account: BudgetAccount, session_id: string): Throttling | undefined {
  const { kind } = account;
  if (kind !== "cost_usd" && kind !== "tokens") return undefined;
  const usual = (): number => Math.max(0, ...listRelatives(account).map(({ spent }) => spent.largest[kind]));
  const countAside = (running: readonly Member[]): number =>
    running.reduce((sum, { spent, running: now }) => {
      return sum + Math.max(0, (spent.largest[kind] || usual()) - (now?.[kind] ?? 0));
    }, 0);
  const own = account.drawers.filter(isOtherTurn);
  if (own.length > 0 && account.left - countAside(own) <= EPSILON) return { account, running: own }; // mutation: running-turns-are-set-aside
  for (let next: BudgetAccount | undefined = account; next !== undefined; next = next.above) {
    const all = listBelow(next).filter(isOtherTurn);
    if (all.length > 0 && next.grant - next.used - countAside(all) <= EPSILON)
      return { account: next, running: all };
  }
  return undefined;

  function isOtherTurn(one: Member): boolean {
    return one.running !== undefined && one.session_id !== session_id;
  }
}

/** All sessions that it covers. */
function listBelow({ drawers, below }: BudgetAccount): Member[] {
  return [...drawers, ...below.flatMap(listBelow)];
}

/** All sessions of its family that the same limits cover. */
function listRelatives(account: BudgetAccount): Member[] {
  return account.above === undefined ? listBelow(account) : listRelatives(account.above);
}

/** Whether `ancestor` is above the session: it may be waiting for it. */
export function isAbove(ancestor: string, session_id: string, members: Members): boolean {
  const seen = new Set<string>();
  for (let id = members.get(session_id)?.parent; id !== undefined && !seen.has(id); ) {
    if (id === ancestor) return true;
    seen.add(id);
    id = members.get(id)?.parent;
  }
  return false;
}
