// Random lists of commands for the core's test world, weighted so that sessions make progress.
import fc from "fast-check";
import { READING } from "../../../src/sessions/budget/facts.ts";
import type { Command } from "./world.ts";

const client = fc.constantFrom("ann", "bob");
const is = fc.boolean();
/** Most commands succeed. */
const isGood = fc.boolean().chain((first) => (first ? fc.constant(true) : fc.boolean()));
const what = fc.constantFrom(
  ...([
    "text",
    "thinking",
    "tool",
    "tool_done",
    "init",
    "notice",
    "result",
    "failure",
    "limit",
    "used",
  ] as const),
);
const OVER = { hold: "used up", over: "used up" };
const of = fc.constantFrom(
  ...(["start", "stop", "interrupt", "give", "rewind", "steer", "back", "ledger", "timer"] as const),
);

const COMMAND: fc.Arbitrary<Command> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant("disk" as const), isGood }) },
  { weight: 12, arbitrary: fc.record({ do: fc.constant("outcome" as const), of, isGood }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("open" as const), client, resume: is, options: is }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("send" as const), client }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("enqueue" as const), wake: is, first: is }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("steer" as const), can: isGood }) },
  { weight: 1, arbitrary: fc.constant({ do: "own_turn" as const }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("cancel" as const), which: fc.nat(3) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("leave" as const), client }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("interrupt" as const),
      client: fc.constantFrom("ann", "bob", undefined),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constantFrom("rest" as const, "halt" as const, "rewind" as const) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constantFrom("rename" as const, "archive" as const, "store" as const, "repeat" as const),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant("close" as const),
      if: fc.constantFrom(
        "always" as const,
        "abandoned" as const,
        "idle" as const,
        "owner" as const,
        "shutdown" as const,
      ),
    }),
  },
  {
    weight: 10,
    arbitrary: fc.record({
      do: fc.constant("say" as const),
      what,
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constantFrom(
        "own_turn" as const,
        "ask" as const,
        "show" as const,
        "answer" as const,
        "withdraw" as const,
        "auth_failed" as const,
      ),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant("quota" as const),
      order: fc.constantFrom(...(["resume", "postpone", "agree", "decline", "cancel", "give_up"] as const)),
      isAsked: is,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant("budget" as const),
      facts: fc.constantFrom(undefined, undefined, { hold: "used up" }, OVER, READING),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("busy" as const), is }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("die" as const), code: fc.constantFrom(0, 1) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("pressure" as const), isFull: is }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("owe" as const), isOwed: is }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("crash" as const), isWritten: is }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("outlive" as const),
      isWritten: is,
      says: fc.array(what, { maxLength: 3 }),
      isGone: is,
    }),
  },
);

export const START = fc.record({
  managed: fc.boolean(),
  queued: fc.constantFrom("nothing" as const, "message" as const, "wakes" as const),
});
export const COMMANDS = fc.array(COMMAND, { minLength: 5, maxLength: 50, size: "max" });
