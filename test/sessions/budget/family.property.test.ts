// Families at random: spawn, use, stop, start, raise, delete and crash, through the same pure functions as the daemon. Grants
// never add up to more than their parent's, and nothing uses more than its limit and one turn.
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Budget, RemovedSpending, Spent } from "../../../src/protocol/budget.ts";
import {
  type BudgetAccount,
  type BudgetAccounts,
  computeAccounts,
  EPSILON,
  type Member,
} from "../../../src/sessions/budget/accounts.ts";
import { applyChange, checkGrant, planRaise } from "../../../src/sessions/budget/changes.ts";
import { toFacts } from "../../../src/sessions/budget/facts.ts";
import { addSpent, addTurn, NO_RATES } from "../../../src/sessions/core/spending.ts";
import { size } from "../../support/sizes.ts";

const MAX_TURN = 4;
/** Of each kind. */
const TREES = size("BUDGET_TREES", 250);
const LIMIT_MS = 120_000;

type Command =
  | { do: "spawn"; parent: number; limit: number | undefined; turns: number | undefined }
  | { do: "begin" | "end" | "stop" | "start" | "delete"; who: number }
  | { do: "use"; who: number; by: number }
  | { do: "raise"; who: number; by: number }
  | { do: "change"; who: number; to: number | null }
  | { do: "crash" };

/** A stored row, and its turn. `reported`: as far as the daemon knows. */
interface Row {
  session_id: string;
  parent?: string;
  budget?: Budget;
  granted_at_ms: number;
  spent: Spent;
  removed: RemovedSpending[];
  isStopped: boolean;
  turn?: { used: number; reported: number; isCut: boolean };
}

const NOTHING: Spent = {
  ...{ cost_usd: 0, tokens: 0, turns: 0, wall_ms: 0, unpriced_turns: 0 },
  largest: { cost_usd: 0, tokens: 0 },
};

class World {
  readonly rows = new Map<string, Row>();
  #ids = 0;
  #now = 1;
  /** What was used, whoever did it and whether it still exists. */
  total = 0;
  interrupts = 0;
  held = 0;

  readonly #isLate: boolean;

  constructor(limit: number, isLate: boolean) {
    this.#isLate = isLate;
    const root = this.#row("root", undefined, { max_tokens: limit });
    // How large turns are is known from earlier ones.
    this.rows.set("root", { ...root, spent: { ...NOTHING, largest: { cost_usd: 0, tokens: MAX_TURN } } });
  }

  run(command: Command): void {
    this.#now += 1;
    switch (command.do) {
      case "spawn":
        this.#spawn(command);
        break;
      case "begin":
        this.#begin(this.#pick(command.who));
        break;
      case "use":
        this.#use(this.#pick(command.who), command.by);
        break;
      case "end":
        this.#end(this.#pick(command.who));
        break;
      case "stop":
        this.#stop(this.#pick(command.who));
        break;
      case "start":
        this.#start(this.#pick(command.who));
        break;
      case "delete":
        this.#delete(this.#pick(command.who));
        break;
      case "raise":
        this.#raise(this.#pick(command.who), command.by);
        break;
      case "change":
        this.#change(this.#pick(command.who), command.to);
        break;
      case "crash":
        // Turns get their end from what is stored of them; nothing else changes.
        for (const row of this.rows.values()) if (row.turn !== undefined) this.#end(row);
    }
    this.#interrupt();
    this.#check();
  }

  get accounts(): BudgetAccounts {
    return computeAccounts(this.#members());
  }

  #members(): Map<string, Member> {
    return new Map(
      [...this.rows.values()].map((row) => {
        const removed = row.removed.filter(({ session_id }) => !this.rows.has(session_id ?? ""));
        const spent = removed.reduce((sum, one) => addSpent(sum, one.spent), row.spent);
        const running = row.turn && { cost_usd: 0, tokens: row.turn.reported, turns: 1, wall_ms: 0 };
        const { session_id, parent, budget, granted_at_ms, isStopped } = row;
        const member = { session_id, parent, budget, granted_at_ms, isStopped, running, wants: false };
        return [session_id, { ...member, spent: { ...spent, largest: row.spent.largest } }];
      }),
    );
  }

  #row(session_id: string, parent: string | undefined, budget: Budget): Row {
    const base = { session_id, granted_at_ms: this.#now, spent: NOTHING, removed: [], isStopped: false };
    return {
      ...base,
      ...(parent === undefined ? {} : { parent }),
      ...(Object.keys(budget).length === 0 ? {} : { budget }),
    };
  }

  #pick(which: number): Row {
    const rows = [...this.rows.values()];
    return rows[which % rows.length] ?? ({} as Row);
  }

  #spawn({ parent, limit, turns }: Command & { do: "spawn" }): void {
    if (this.rows.size >= 9) return;
    const { session_id: above } = this.#pick(parent);
    const budget = {
      ...(limit === undefined ? {} : { max_tokens: limit }),
      ...(turns === undefined ? {} : { max_turns: turns }),
    };
    if (!tries(() => checkGrant(above, budget, this.accounts))) return;
    this.#ids += 1;
    this.rows.set(`s${this.#ids}`, this.#row(`s${this.#ids}`, above, budget));
  }

  #begin(row: Row): void {
    if (row.turn !== undefined || row.isStopped) return;
    if (toFacts(row.session_id, this.accounts, this.#members(), false)?.hold !== undefined) {
      this.held += 1;
      return;
    }
    row.turn = { used: 0, reported: 0, isCut: false };
  }

  #use({ turn }: Row, by: number): void {
    if (turn === undefined || turn.isCut || turn.used + by > MAX_TURN) return;
    turn.used += by;
    if (!this.#isLate) turn.reported = turn.used;
    this.total += by;
  }

  #end(row: Row): void {
    const { turn } = row;
    if (turn === undefined) return;
    const usage = { output_tokens: turn.used };
    const result = { type: "agent.result", backend: "x", subtype: "success", usage } as const;
    row.spent = addTurn(row.spent, result, 0, NO_RATES);
    delete row.turn;
  }

  #stop(row: Row): void {
    this.#end(row);
    row.isStopped = true;
  }

  #start(row: Row): void {
    if (!row.isStopped) return;
    row.isStopped = false;
    row.granted_at_ms = this.#now;
  }

  /** With everything below it, as the manager does; a crash may come between the two writes. */
  #delete({ session_id, parent }: Row): void {
    const above = this.rows.get(parent ?? "");
    if (above === undefined) return;
    const ids = [...this.rows.keys()].filter((id) => this.#line(id).includes(session_id));
    for (const id of ids) this.#end(this.rows.get(id) as Row);
    const members = this.#members();
    for (const id of ids) above.removed.push({ session_id: id, spent: members.get(id)?.spent ?? NOTHING });
    this.#check();
    for (const id of ids) this.rows.delete(id);
  }

  #line(session_id: string): string[] {
    const row = this.rows.get(session_id);
    return [session_id, ...(row?.parent === undefined ? [] : this.#line(row.parent))];
  }

  #raise({ session_id }: Row, by: number): void {
    const account = this.accounts.all.find(
      ({ holder, kind }) => holder.session_id === session_id && kind === "tokens",
    );
    if (account === undefined) return;
    for (const { session_id: id, limit_of, limit } of planRaise(account, account.limit + by)) {
      const row = this.rows.get(id) as Row;
      row.budget = applyChange(id, { [limit_of]: limit }, this.#members());
    }
  }

  #change(row: Row, to: number | null): void {
    if (row.session_id === "root" && to === null) return;
    // A lower limit cannot know what running turns have not reported.
    if (this.#isLate && [...this.rows.values()].some(({ turn }) => turn !== undefined)) return;
    tries(() => {
      row.budget = applyChange(row.session_id, { max_tokens: to }, this.#members());
    });
  }

  /** At every usage event, each running turn that is over ends, once. */
  #interrupt(): void {
    const { accounts } = this;
    for (const row of this.rows.values()) {
      if (row.turn === undefined || row.turn.isCut) continue;
      if (toFacts(row.session_id, accounts, this.#members(), false)?.over === undefined) continue;
      row.turn.isCut = true;
      this.interrupts += 1;
    }
  }

  #check(): void {
    const { all } = this.accounts;
    for (const account of all) this.#checkAccount(account);
    const root = all.find(({ holder, kind }) => holder.session_id === "root" && kind === "tokens");
    const unreported = [...this.rows.values()].reduce(
      (sum, { turn }) => sum + (turn === undefined ? 0 : turn.used - turn.reported),
      0,
    );
    expect(root?.used).toBe(this.total - unreported); // nothing is lost, nothing counted twice
  }

  #checkAccount(account: BudgetAccount): void {
    const { grant, used, below, limit, kind } = account;
    const active = below.filter(({ isActive }) => isActive);
    const granted = active.reduce((sum, one) => sum + Math.max(one.grant, one.used), 0);
    const rest = used - active.reduce((sum, one) => sum + one.used, 0);
    // Only use itself, of turns that were running, can be more than there is.
    expect(granted + rest).toBeLessThanOrEqual(Math.max(grant, used) + EPSILON);
    expect(grant).toBeLessThanOrEqual(limit);
    expect(used).toBeLessThanOrEqual(kind === "turns" ? limit : limit + MAX_TURN);
  }
}

function tries(work: () => void): boolean {
  try {
    work();
    return true;
  } catch (error) {
    if ((error as { code?: string }).code !== "budget_exhausted") throw error;
    return false;
  }
}

const who = fc.nat(8);
const limit = fc.option(fc.integer({ min: 1, max: 12 }), { nil: undefined });
const COMMAND: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant("spawn" as const), parent: who, limit, turns: limit }),
  },
  { weight: 5, arbitrary: fc.record({ do: fc.constant("begin" as const), who }) },
  {
    weight: 5,
    arbitrary: fc.record({ do: fc.constant("use" as const), who, by: fc.integer({ min: 1, max: MAX_TURN }) }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("end" as const), who }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constantFrom("stop" as const, "start" as const, "delete" as const), who }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant("raise" as const), who, by: fc.integer({ min: 1, max: 6 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant("change" as const),
      who,
      to: fc.option(fc.integer({ min: 1, max: 20 })),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ do: "crash" as const }) },
);

/** `isLate`: agents report what a turn used only when it ends, also when it is interrupted. */
function play(isLate: boolean, limit: number, commands: readonly Command[]): World {
  const world = new World(limit, isLate);
  for (const command of commands) world.run(command);
  return world;
}

test.each([
  ["agents that report as they go", false],
  ["agents that report only at the end of a turn", true],
])(
  "grants fit into their parent's, and no limit is passed by more than one turn: %s",
  (_name, isLate) => {
    const sums = { interrupts: 0, held: 0 };
    let sessions = 0;
    const commands = fc.array(COMMAND, { minLength: 12, maxLength: 40, size: "max" });
    fc.assert(
      fc.property(fc.integer({ min: 5, max: 30 }), commands, (limit, list) => {
        const world = play(isLate, limit, list);
        sums.interrupts += world.interrupts;
        sums.held += world.held;
        sessions += world.rows.size;
      }),
      { numRuns: TREES },
    );
    // It must have checked something.
    if (!isLate) expect(sums.interrupts).toBeGreaterThan(TREES / 10);
    expect(sums.held).toBeGreaterThan(TREES / 5);
    expect(sessions).toBeGreaterThan(TREES * 1.5);
  },
  LIMIT_MS,
);
