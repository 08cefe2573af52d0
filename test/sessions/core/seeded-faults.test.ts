// Tests the rules themselves: they must find each of these faults, which are easy to make by accident. The gate tries
// five of them, chosen by the commit; `npm run chaos` tries all.
import { expect, test } from "vitest";
import { loadChanged, replaceLines } from "../../ledger/mutant.ts";
import { pickByCommit } from "../../support/pick.ts";
import { seek } from "./rules.ts";
import type { Core } from "./world.ts";

/** Fixed, so that runs are repeatable. */
const SEED = 8;
const SEQUENCES = 3_000;
/** The search ends at the first one that shows the fault; a rare one needs more. */
const FAULTY_SEQUENCES = 30_000;
const LIMIT_MS = 120_000;
const FILES = ["core/reduce.ts", "core/restore.ts", "core/state.ts"];

const FAULTS: [string, Record<string, string>][] = [
  ["a turn ends without a result", { "turn-has-its-result": "" }],
  ["a turn that has ended is still current", { "ended-turns-are-gone": "" }],
  ["a turn that clients have seen is forgotten", { "known-turns-end": "" }],
  [
    "the request of a dead agent stays pending",
    { "dead-agents-ask-nothing": "step.set({ run: undefined, ...calmed });" },
  ],
  ["an interrupt that the agent does not answer leaves the turn", { "interrupt-ends-its-turn": "" }],
  [
    "a message is given before its leaving the queue is stored",
    {
      "stored-before-given": 'step.emit({ kind: "give", turn_id: step.id, message: entry.message, entry });',
    },
  ],
  [
    "a message stays in the queue when it is delivered",
    {
      "leaves-the-queue": "step.set({ row: { ...row, queue: step.state.row.queue ?? [] } });",
    },
  ],
  [
    "a merged wake is lost when the agent refuses it",
    { "parts-go-back": "const parts = listParts(entry).slice(0, 1);" },
  ],
  ["a message that could not be stored comes back", { "unstored-never-was": "const isKnown = true;" }],
  [
    "a turn of the agent's own ends that of a message",
    { "own-turns-end-nobody-elses": "const isIts = turn !== undefined;" },
  ],
  ["a closed session takes messages", { "closed-stays-closed": "if (job_id === undefined) return;" }],
  ["a restart leaves a cut turn open", { "restart-ends-turns": "" }],
  ["a turn that turned out to be the last is never reported as such", { "the-end-is-reported": "" }],
  ["a wake whose turn is cut by the end of the daemon is lost", { "cut-wakes-come-again": "" }],
  ["what an open has changed is not stored", { "opened-is-stored": "" }],
  ["an unstored message is delivered", { "only-stored-is-delivered": "return first;" }],
  [
    "a repeated message is acknowledged before it is stored",
    { "repeated-when-stored": "const isWaiting = false;" },
  ],
  ["what is pending after a close is never answered", { "close-answers-everybody": "" }],
  [
    "an agent is started although one is running",
    { "one-agent-at-a-time": "const needsAgent = entry !== undefined;" },
  ],
  ["a restart ends the turn of an agent that continues", { "adopted-turns-continue": "" }],
  [
    "a turn that continues is announced by each daemon",
    { "adopted-turns-are-announced-once": "isAnnounced: false," },
  ],
  [
    "the end of a turn of the agent's own ends one whose message is still to be repeated",
    { "own-turns-before-given": "return toCurrent(step, turn ?? createTurn('', 0, 'user'), wanted);" },
  ],
  [
    "a message that left the queue and never reached the agent is forgotten",
    { "undelivered-messages-are-given": "" },
  ],
  [
    "a message that the agent has is given again by the next daemon",
    {
      "own-turns-before-given":
        "return wanted?.undelivered === undefined ? undefined : giveNow(step, turn, wanted, wanted.undelivered);",
    },
  ],
  [
    "an idle agent is stopped before its clients can reconnect",
    { "clients-may-reconnect": "const owner = { left_at_ms: step.at_ms };" },
  ],
  ["a turn begins although the budget is used up", { "budgets-hold-the-queue": "" }],
  ["a message is delivered before its limit is reset", { "limits-hold-the-queue": "" }],
  [
    "a message is given to its turn before it is stored",
    { "steers-are-stored-first": "for_turn === turn_id && !given.has(message_id)," },
  ],
  ["a message is given to its turn twice", { "steers-are-given-once": "" }],
  ["a message that its turn has taken stays in the queue", { "steers-leave-the-queue": "" }],
  ["a message is delivered while another may become a turn", { "steers-are-settled-first": "" }],
  ["an idle agent whose clients do not come back runs forever", { "idle-agents-are-not-kept": "" }],
];

test(
  "without a fault the same sequences find nothing",
  async () => {
    const core = await loadChanged<Core>({ lines: {} }, FILES);
    expect(seek({ core, sequences: SEQUENCES, seed: SEED })).toBeUndefined();
  },
  LIMIT_MS,
);

test.each(pickByCommit(FAULTS, 5))(
  "the rules find: %s",
  async (_name, lines) => {
    const core = await loadChanged<Core>({ lines }, FILES);
    expect(seek({ core, sequences: FAULTY_SEQUENCES, seed: SEED })).toContain("Counterexample");
  },
  LIMIT_MS,
);

test.each(FAULTS)("the line to change still exists for: %s", (_name, lines) => {
  expect(replaceLines(lines).size).toBeGreaterThan(0);
});
