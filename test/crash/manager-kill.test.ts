// kill -9 of the daemon while messages wait in queues, sessions are being spawned and wakes are on their way to a
// parent: each arrives once and in order, a repeated request gets the same answer. KILLS sets the number.
import { expect, test } from "vitest";
import { seededRandom } from "../store/random.ts";
import { size } from "../support/sizes.ts";
import { figure } from "./figure.ts";
import { ManagerSite, newManagerReport } from "./manager-site.ts";

const KILLS = size("KILLS", 4);
const SEED = size("KILL_SEED", 1);
/** Then a new directory: the queue remembers a limited number of messages. */
const KILLS_PER_SITE = 12;
const LONG = { timeout: 1_800_000 };

test("a message, a spawn and a wake arrive once, whenever the daemon is killed", LONG, async () => {
  const random = seededRandom(SEED);
  const total = newManagerReport();
  while (total.kills < KILLS) {
    const site = new ManagerSite(random);
    for (let n = Math.min(KILLS_PER_SITE, KILLS - total.kills); n > 0; n -= 1) await site.killOnce();
    await site.close();
    const { faults, ...counts } = site.report;
    total.faults.push(...faults);
    for (const [name, count] of Object.entries(counts)) total[name as keyof typeof counts] += count;
  }
  const { faults, ...counts } = total;
  figure(`kill -9 of a manager: ${JSON.stringify(counts)}, ${faults.length} faults`);
  expect(faults).toEqual([]);
  // Checks the test itself: there was something to lose, and daemons died before they had answered.
  expect(total.messages).toBeGreaterThan(total.kills);
  expect(total.wakes).toBeGreaterThan(total.kills);
  expect(total.retried).toBeGreaterThan(0);
});
