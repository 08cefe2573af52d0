// Exactly-once delivery: random runs of a daemon that dies between any two steps and whose disk refuses writes, or
// takes them and reports failure.
import fc from "fast-check";
import { expect, test } from "vitest";
import { settle } from "./fakes.ts";
import { Disk, type Fault, Life } from "./family-world.ts";

const CHILDREN = ["a", "b", "c"];

type Op =
  | { kind: "begin" | "ask" | "answer"; child: string; ticks: number }
  | { kind: "end"; child: string; subtype: "success" | "error"; hasMore: boolean; ticks: number }
  | { kind: "read" | "crash"; ticks: number };

const child = fc.constantFrom(...CHILDREN);
const ticks = fc.nat(2);
const op: fc.Arbitrary<Op> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("begin" as const), child, ticks }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("end" as const),
      child,
      subtype: fc.constantFrom("success" as const, "error" as const),
      hasMore: fc.boolean(),
      ticks,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constantFrom("ask" as const, "answer" as const), child, ticks }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom("read" as const, "crash" as const), ticks }) },
);
const fault = fc.constantFrom<Fault>("none", "none", "none", "before", "after");
const life = fc.record({ steps: fc.nat(60), faults: fc.array(fault, { maxLength: 12 }) });

/** The expected state, kept outside the daemon. */
class History {
  readonly disk = new Disk();
  /** By turn: whether its end should be reported. */
  readonly turns = new Map<string, { child: string; isTold: boolean }>();
  readonly open = new Map<string, string>();
  readonly asked: { child: string; request_id: string }[] = [];
  life: Life;
  #count = 0;

  constructor() {
    this.life = new Life(this.disk);
    this.life.add("p");
    for (const session_id of CHILDREN) this.life.add(session_id, { parent: "p" });
  }

  /** A new daemon on the same disk: cut turns get their result, as in recover.ts. */
  async restart(how: { steps?: number; faults?: Fault[] }): Promise<void> {
    this.life.isDead = true;
    this.open.clear();
    // A turn that never reached the disk is unknown to the next daemon.
    for (const turn_id of this.turns.keys()) if (!this.disk.turns.has(turn_id)) this.turns.delete(turn_id);
    this.life = new Life(this.disk);
    const cut = [...this.life.rows.values()].filter((row) => row.turn !== undefined);
    const ends = cut.map((row) => {
      const turn = this.turns.get(row.turn?.turn_id ?? "");
      if (turn !== undefined) turn.isTold = true;
      return this.life.end(row.session_id, "error");
    });
    Object.assign(this.life, how);
    await Promise.race([Promise.allSettled(ends), settle(3)]);
    this.life.family.resume(this.life.rows.values());
  }

  async run(op: Op): Promise<void> {
    const { life } = this;
    if (op.kind === "begin" && life.get(op.child).turn === undefined) {
      const turn_id = `t${++this.#count}`;
      this.turns.set(turn_id, { child: op.child, isTold: false });
      void life.begin(op.child, turn_id).catch(() => undefined);
    }
    if (op.kind === "end" && life.get(op.child).turn !== undefined) {
      const turn = this.turns.get(life.get(op.child).turn?.turn_id ?? "");
      if (turn !== undefined) turn.isTold = !op.hasMore;
      void life.end(op.child, op.subtype, { hasMore: op.hasMore }).catch(() => undefined);
    }
    if (op.kind === "ask" && !this.open.has(op.child)) {
      const request_id = `req_${++this.#count}`;
      this.open.set(op.child, request_id);
      this.asked.push({ child: op.child, request_id });
      life.ask(op.child, request_id);
    }
    if (op.kind === "answer") {
      const request_id = this.open.get(op.child);
      this.open.delete(op.child);
      if (request_id !== undefined) life.settle(op.child, request_id);
    }
    if (op.kind === "read") void life.consume("p");
    await settle(op.ticks);
  }

  /** With a working disk and no crashes, everything pending is delivered. */
  async finish(): Promise<void> {
    do {
      await this.life.family.idle();
      await this.life.consume("p");
      await this.life.save("p");
    } while ((this.life.get("p").queue ?? []).length > 0);
  }
}

test("each end of a turn is reported exactly once, each question at most once, and exactly once if it stays open", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(op, { maxLength: 25 }),
      fc.array(life, { maxLength: 5 }),
      async (ops, lives) => {
        const history = new History();
        let next = 0;
        Object.assign(history.life, structuredClone(lives[next++]));
        for (const op of ops) {
          if (history.life.isDead || op.kind === "crash")
            await history.restart(structuredClone(lives[next++] ?? {}));
          if (!history.life.isDead) await history.run(op);
        }
        if (history.life.isDead) await history.restart({});
        Object.assign(history.life, { steps: Number.POSITIVE_INFINITY, faults: [] });
        await history.finish();

        const told = history.disk.told("p");
        const count = (id: string) => told.filter((one) => one === id).length;
        for (const [turn_id, { child, isTold }] of history.turns) {
          expect([turn_id, count(`wake_${child}_${turn_id}`)]).toEqual([turn_id, isTold ? 1 : 0]);
        }
        for (const { child, request_id } of history.asked) {
          const isOpen = history.open.get(child) === request_id;
          expect(count(`wake_${child}_${request_id}`)).toBeLessThanOrEqual(1);
          if (isOpen) expect(count(`wake_${child}_${request_id}`)).toBe(1);
        }
        const known = [...history.turns.keys(), ...history.asked.map(({ request_id }) => request_id)];
        expect(told.filter((id) => !known.some((about) => id.endsWith(`_${about}`)))).toEqual([]);
        for (const row of history.disk.read().values()) expect(row.wakes).toBeUndefined();
      },
    ),
    { numRuns: 400 },
  );
}, 60_000);
