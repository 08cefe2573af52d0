// `sm budget`: shows the limits that apply to a session, and sets, raises or removes its own.
import { defined } from "../../base/values.ts";
import type { SessionView } from "../../client/index.ts";
import { toBudgetLines } from "../../client/view/budget.ts";
import type { Budget, BudgetChange, BudgetLimit } from "../../protocol/budget.ts";
import { type Arguments, defineFlag, readTextFlag, UsageError } from "../command.ts";
import { formatTable, show } from "../output.ts";
import type { BlemeesCommand } from "./command.ts";
import { CAREFUL, findSession } from "./find.ts";

const FLAGS: readonly { flag: string; limit_of: BudgetLimit }[] = [
  { flag: "usd", limit_of: "max_cost_usd" },
  { flag: "turns", limit_of: "max_turns" },
  { flag: "tokens", limit_of: "max_tokens" },
  { flag: "wall", limit_of: "max_wall_s" },
];

export const BUDGET: BlemeesCommand = {
  name: "budget",
  usage: "budget ID",
  summary: "show the limits that apply to a session; set, raise or remove its own",
  words: [1, 1],
  completes: "session",
  flags: [
    defineFlag("--usd N", "its maximum cost"),
    defineFlag("--turns N", "its maximum number of turns"),
    defineFlag("--tokens N", "its maximum number of tokens (output, and input not read from the cache)"),
    defineFlag("--wall S", "its maximum time in turns, in seconds"),
  ],
  examples: [
    "budget lead",
    "budget lead --usd 10",
    "budget lead --usd +2.50 --turns +10",
    "budget lead --usd none",
  ],
  notes: [
    "N is the new limit, +N what to add to it, none removes it. A limit covers the session and everything below it.",
    "A session without a limit draws on that of its nearest ancestor. A held queue continues when there is budget again.",
  ],
  async run(given, context) {
    const wishes = readWishes(given);
    const http = await context.connect();
    const { session_id, budget = {} } = await findSession(
      http,
      given.words[0] ?? "",
      wishes.length === 0 ? 1 : CAREFUL,
    );
    const change = toChange(wishes, budget);
    const session =
      wishes.length === 0
        ? await http.session(session_id)
        : await http.change(session_id, { budget: change });
    const reply = { session_id, ...defined({ budget: session.budget, budgets: session.budgets }) };
    if (session.budgets === undefined && !context.isJson) context.output.note("No limit applies to it");
    return show(context, reply, () => formatTable(budgetRows(session), context.output.columns));
  },
};

interface Wish {
  flag: string;
  limit_of: BudgetLimit;
  /** null: none. */
  amount: number | null;
  isMore: boolean;
}

function readWishes(given: Arguments): Wish[] {
  return FLAGS.flatMap(({ flag, limit_of }): Wish[] => {
    const text = readTextFlag(given, flag);
    if (text === undefined) return [];
    if (text === "none") return [{ flag, limit_of, amount: null, isMore: false }];
    const [, sign = "", digits] = /^(\+?)(\d+(?:\.\d+)?|\.\d+)$/.exec(text) ?? [];
    if (digits === undefined || Number(digits) === 0)
      throw new UsageError(`--${flag} ${text}: expected a limit such as 5, a raise such as +5, or none`);
    return [{ flag, limit_of, amount: Number(digits), isMore: sign === "+" }];
  });
}

function toChange(wishes: readonly Wish[], before: Budget): BudgetChange {
  return Object.fromEntries(
    wishes.map(({ flag, limit_of, amount, isMore }) => {
      if (!isMore || amount === null) return [limit_of, amount];
      const old = before[limit_of];
      if (old === undefined)
        throw new UsageError(
          `--${flag} +${amount}: the session has no such limit of its own; give the limit itself`,
        );
      return [limit_of, Number((old + amount).toFixed(4))];
    }),
  );
}

function budgetRows(session: SessionView): string[][] {
  return toBudgetLines(session, (session_id) => session_id).map(({ amounts, bar, notes }) => [
    bar,
    amounts,
    notes.join(", "),
  ]);
}
