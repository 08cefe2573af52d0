// Is the model worth anything? It must find each of these bugs, with far fewer sequences than the gate runs. The list is
// bugs.ts; a bug whose place in the source has moved fails here until it is put in again.
import { afterAll, beforeAll, expect, test } from "vitest";
import { FakeStore } from "../sessions/fakes.ts";
import { BUGS } from "./bugs.ts";
import { loadMutant } from "./mutant.ts";
import { runModel } from "./run-model.ts";

/** Fixed, so that what is found today is found tomorrow. */
const SEED = 288;
const SEQUENCES = 400;
const LIMIT_MS = 60_000;
const store = () => new FakeStore();

const listeners = process.listeners("unhandledRejection");
const ignore = () => undefined;

beforeAll(() => {
  // A bug may also throw where nobody catches: that is its own business here.
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
    const sessions = await loadMutant({ edits: [] });
    const found = await runModel({ sessions, store, sequences: SEQUENCES, seed: SEED });
    expect(found).toBeUndefined();
  },
  LIMIT_MS,
);

test.each(BUGS)(
  "the model finds: $name",
  async (bug) => {
    const sessions = await loadMutant(bug);
    const found = await runModel({ sessions, store, sequences: SEQUENCES, seed: SEED });
    expect(found).toContain("Counterexample");
  },
  LIMIT_MS,
);
