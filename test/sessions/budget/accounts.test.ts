// The figures of a family: what is used, set aside and left, and what that allows.
import { expect, test } from "vitest";
import type { Budget } from "../../../src/protocol/budget.ts";
import {
  type BudgetAccount,
  computeAccounts,
  findThrottling,
  isExhausted,
  isOver,
  type Member,
} from "../../../src/sessions/budget/accounts.ts";
import { applyChange, checkGrant, planRaise } from "../../../src/sessions/budget/changes.ts";

interface Wish {
  parent?: string;
  budget?: Budget;
  usd?: number;
  tokens?: number;
  turns?: number;
  at?: number;
  running?: number;
  largest?: number;
  stopped?: true;
}

function member(session_id: string, wish: Wish = {}): Member {
  const { usd = 0, tokens = 0, turns = 0, at = 0, largest = 0, running } = wish;
  return {
    session_id,
    parent: wish.parent,
    budget: wish.budget,
    granted_at_ms: at,
    spent: {
      ...{ cost_usd: usd, tokens, turns, wall_ms: 0, unpriced_turns: 0 },
      largest: { cost_usd: largest, tokens: 0 },
    },
    running: running === undefined ? undefined : { cost_usd: running, tokens: 0, turns: 1, wall_ms: 0 },
    isStopped: wish.stopped === true,
    wants: false,
  };
}

const family = (members: readonly Member[]) => new Map(members.map((one) => [one.session_id, one]));
const cost = (max_cost_usd: number): Budget => ({ max_cost_usd });
const figures = ({ grant, used, reserved, left }: BudgetAccount) => ({ grant, used, reserved, left });

function ofHolder(members: readonly Member[], session_id: string): BudgetAccount {
  const found = computeAccounts(family(members)).all.find(({ holder }) => holder.session_id === session_id);
  if (found === undefined) throw new Error(`no account of ${session_id}`);
  return found;
}

test("a child without a limit draws on its nearest ancestor's; one with a limit has a part of it set aside", () => {
  const members = [
    member("lead", { budget: cost(10), usd: 1 }),
    member("a", { parent: "lead", usd: 2 }),
    member("b", { parent: "lead", budget: cost(4), usd: 1, running: 0.5 }),
    member("c", { parent: "b", usd: 0.5 }),
  ];
  expect(figures(ofHolder(members, "lead"))).toEqual({ grant: 10, used: 5, reserved: 2, left: 3 });
  expect(figures(ofHolder(members, "b"))).toEqual({ grant: 4, used: 2, reserved: 0, left: 2 });
  const accounts = computeAccounts(family(members));
  expect(accounts.of("c").map(({ holder }) => holder.session_id)).toEqual(["b"]);
  expect(accounts.of("a").map(({ holder }) => holder.session_id)).toEqual(["lead"]);
});

test("what a stopped child has not used returns; while something below it runs, it stays set aside", () => {
  const members = (below: Wish): Member[] => [
    member("lead", { budget: cost(10) }),
    member("a", { parent: "lead", budget: cost(6), usd: 1, stopped: true }),
    member("b", { parent: "a", ...below }),
  ];
  expect(ofHolder(members({ stopped: true }), "lead")).toMatchObject({ used: 1, reserved: 0, left: 9 });
  expect(ofHolder(members({}), "lead")).toMatchObject({ used: 1, reserved: 5, left: 4 });
  expect(ofHolder(members({ stopped: true, running: 1 }), "lead")).toMatchObject({ used: 2, reserved: 4 });
});

test("a child that starts again gets what the others have left, not their part", () => {
  const members = [
    member("lead", { budget: cost(10), usd: 1 }),
    member("old", { parent: "lead", budget: cost(6), usd: 1, at: 9 }),
    member("new", { parent: "lead", budget: cost(6), at: 5 }),
  ];
  expect(ofHolder(members, "new")).toMatchObject({ grant: 6, left: 6 });
  expect(ofHolder(members, "old")).toMatchObject({ grant: 3, left: 2 });
  expect(ofHolder(members, "lead")).toMatchObject({ reserved: 8, left: 0 });
});

test("each kind of limit has a holder of its own", () => {
  const members = [
    member("lead", { budget: { max_turns: 9, max_cost_usd: 3 }, turns: 2 }),
    member("a", { parent: "lead", budget: { max_turns: 4 }, turns: 1, usd: 1 }),
  ];
  const own = computeAccounts(family(members)).of("a");
  expect(own.map(({ limit_of, holder, left }) => [limit_of, holder.session_id, left])).toEqual([
    ["max_cost_usd", "lead", 2],
    ["max_turns", "a", 3],
  ]);
});

test("at the limit nothing starts and a running turn ends, but the last of max_turns goes on", () => {
  const turns = ofHolder([member("a", { budget: { max_turns: 2 }, turns: 1, running: 0 })], "a");
  expect([isExhausted(turns), isOver(turns)]).toEqual([true, false]);
  const money = ofHolder([member("a", { budget: cost(2), usd: 1.5, running: 0.5 })], "a");
  expect([isExhausted(money), isOver(money)]).toEqual([true, true]);
  const given = [member("a", { budget: cost(2), running: 1 }), member("b", { parent: "a", budget: cost(1) })];
  expect(isExhausted(ofHolder(given, "a"))).toBe(true);
  expect(isOver(ofHolder(given, "a"))).toBe(false);
});

test("what running turns may still use is set aside, so that one more cannot go over by more than its own use", () => {
  const members = (left: number): Member[] => [
    member("lead", { budget: cost(10), usd: 10 - left - 1, largest: 2 }),
    member("a", { parent: "lead", running: 0.5, largest: 2 }),
    member("b", { parent: "lead", running: 0.5 }),
    member("c", { parent: "lead" }),
  ];
  expect(findThrottling(ofHolder(members(4), "lead"), "c")).toBeUndefined();
  const blocking = findThrottling(ofHolder(members(3), "lead"), "c");
  expect(blocking?.running.map(({ session_id }) => session_id)).toEqual(["a", "b"]);
});

test("a circle of parents ends", () => {
  const members = [member("a", { parent: "b", budget: cost(1) }), member("b", { parent: "a", usd: 2 })];
  expect(ofHolder(members, "a")).toMatchObject({ used: 2, left: -1 });
});

test("a spawn is refused with the figures: nothing left, or a grant that does not fit", () => {
  const members = family([
    member("lead", { budget: cost(3), usd: 1 }),
    member("a", { parent: "lead", budget: cost(1) }),
  ]);
  const accounts = computeAccounts(members);
  expect(() => checkGrant("lead", cost(1), accounts)).not.toThrow();
  expect(() => checkGrant("lead", undefined, accounts)).not.toThrow();
  expect(() => checkGrant("lead", cost(1.5), accounts)).toThrow(
    /session lead: \$1\.00 of \$3\.00 used, \$1\.00 set aside .*only \$1\.00 left, less than the \$1\.50 for/,
  );
  const empty = computeAccounts(family([member("lead", { budget: { max_tokens: 5 }, tokens: 5 })]));
  expect(() => checkGrant("lead", undefined, empty)).toThrow(/5 of 5 tokens used, so no session/);
});

test("a limit cannot go below what is used and set aside, nor above what the budget above has", () => {
  const members = family([
    member("lead", { budget: cost(10), usd: 1 }),
    member("a", { parent: "lead", budget: cost(4), usd: 2 }),
    member("b", { parent: "lead", usd: 1 }),
  ]);
  expect(applyChange("lead", { max_cost_usd: 6 }, members)).toEqual(cost(6));
  expect(() => applyChange("lead", { max_cost_usd: 5 }, members)).toThrow(/at least \$6\.00, not \$5\.00/);
  expect(applyChange("a", { max_cost_usd: 8, max_turns: 3 }, members)).toEqual({ ...cost(8), max_turns: 3 });
  expect(() => applyChange("a", { max_cost_usd: 8.5 }, members)).toThrow(
    /only \$4\.00 left, and this needs \$4\.50/,
  );
  expect(applyChange("a", { max_cost_usd: null }, members)).toEqual({});
  expect(applyChange("b", { max_cost_usd: 5 }, members)).toEqual(cost(5));
  expect(() => applyChange("b", { max_cost_usd: 5.5 }, members)).toThrow(
    /only \$4\.00 left, and this needs \$4\.50/,
  );
});

test("a raise raises the budgets above by what they lack, top down", () => {
  const members = family([
    member("lead", { budget: cost(10), usd: 6 }),
    member("a", { parent: "lead", budget: cost(4), usd: 1 }),
    member("b", { parent: "a", budget: cost(2), usd: 2 }),
  ]);
  const b = computeAccounts(members).all.find(({ holder }) => holder.session_id === "b");
  expect(b && planRaise(b, 3)).toEqual([{ session_id: "b", limit_of: "max_cost_usd", limit: 3 }]);
  expect(b && planRaise(b, 5)).toEqual([
    { session_id: "lead", limit_of: "max_cost_usd", limit: 12 },
    { session_id: "a", limit_of: "max_cost_usd", limit: 6 },
    { session_id: "b", limit_of: "max_cost_usd", limit: 5 },
  ]);
});
