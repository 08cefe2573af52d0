// The ways to restart a daemon under the UIs, and the turns that must survive them: numbered words that can be counted on a
// screen. The agent is the fake of test/fakes.
import { randomUUID } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { startDaemon, type TestDaemon } from "../../support/daemon.ts";

export interface Restart {
  way: string;
  /** `whileDown`: called when no daemon is running; not by a takeover, which has no such moment that a test can hold. */
  restart(old: TestDaemon, whileDown?: () => Promise<void>): Promise<TestDaemon>;
}

export const RESTARTS: readonly Restart[] = [
  {
    way: "kill -9 and a new daemon",
    async restart(old, whileDown) {
      await old.kill("SIGKILL");
      await whileDown?.();
      return startDaemon({ home: old.home });
    },
  },
  {
    way: "a takeover",
    async restart(old) {
      const next = await startDaemon({ home: old.home, args: ["--takeover"] });
      await old.exited;
      return next;
    },
  },
];

const WORDS = 40;
const PACE_MS = 30;
const ROUND = `#slow ${WORDS} ${PACE_MS}`;

/** Two rounds of words: the second begins only when `open` was called, so that it streams after the restart. */
export function gatedTurn({ home }: TestDaemon): { prompt: string; open(): void } {
  const gate = join(home, `gate-${randomUUID()}`);
  return {
    prompt: `${ROUND} #tool until [ -e ${gate} ]; do sleep 0.05; done ${ROUND}`,
    open: () => writeFileSync(gate, ""),
  };
}

/** The same with an approval between the rounds. */
export const ASKING_TURN = `${ROUND} #ask rm -rf build ${ROUND}`;

/** The numbered words on a screen, in order. */
export function wordsIn(screen: string): string[] {
  return screen.match(/\btick\d+\b/g) ?? [];
}

const round = Array.from({ length: WORDS }, (_, n) => `tick${n}`);
/** Every word of both rounds, once and in order. */
export const ALL_WORDS: readonly string[] = [...round, ...round];
