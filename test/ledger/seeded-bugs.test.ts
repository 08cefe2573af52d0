// Tests the model itself: it must find each of the bugs in bugs.ts. The gate tries three of them, chosen by the commit,
// so that each gets its turn; `npm run chaos` tries all. Every run checks that each bug can still be inserted.
import { afterAll, beforeAll, expect, test } from "vitest";
import { FakeStore } from "../sessions/fakes.ts";
import { pickByCommit } from "../support/pick.ts";
import { BUGS } from "./bugs.ts";
import { loadMutant, replaceLines } from "./mutant.ts";
import { runModel } from "./run-model.ts";

/** Fixed, so that runs are repeatable. */
const SEED = 288;
const SEQUENCES = 400;
const LIMIT_MS = 60_000;
const store = () => new FakeStore();

const listeners = process.listeners("unhandledRejection");
const ignore = () => undefined;

beforeAll(() => {
  // A bug may also cause an unhandled rejection; that does not matter here.
  process.removeAllListeners("unhandledRejection");
  process.on("unhandledRejection", ignore);
});

afterAll(() => {
  process.removeListener("unhandledRejection", ignore);
  for (const listener of listeners) process.on("unhandledRejection", listener);
});

test(
  "without a bug the same sequences find nothing",
  async () => {
    const sessions = await loadMutant({ lines: {} });
    const found = await runModel({ sessions, store, sequences: SEQUENCES, seed: SEED });
    expect(found).toBeUndefined();
  },
  LIMIT_MS,
);

test.each(pickByCommit(BUGS, 3))(
  "the model finds: $name",
  async (bug) => {
    const sessions = await loadMutant(bug);
    const found = await runModel({ sessions, store, sequences: SEQUENCES, seed: SEED });
    expect(found).toContain("Counterexample");
  },
  LIMIT_MS,
);

test.each(BUGS)("the line to change still exists for: $name", ({ lines }) => {
  expect(replaceLines(lines).size).toBeGreaterThan(0);
});
