// Which tab may hold a stream: six connections for all tabs of a browser, and four of them streams at most.
import { describe, expect, test } from "vitest";
import { type Purpose, type Slot, TabSlots, type Visibility } from "../../web/src/api/slots.ts";

/** Web Locks as a browser has them, for the tabs of this test. */
class FakeLocks {
  readonly #held = new Map<string, Promise<unknown>>();

  readonly request = async (
    name: string,
    options: LockOptions,
    use: (lock: Lock | null) => unknown,
  ): Promise<unknown> => {
    if (options.ifAvailable === true && this.#held.has(name)) return use(null);
    while (this.#held.has(name)) {
      const gone = new Promise((_resolve, reject) => {
        options.signal?.addEventListener("abort", () => reject(options.signal?.reason), { once: true });
      });
      await Promise.race([this.#held.get(name), gone]);
      options.signal?.throwIfAborted();
    }
    const held = Promise.resolve(use({ name, mode: "exclusive" }));
    this.#held.set(name, held);
    await held;
    this.#held.delete(name);
    return undefined;
  };
}

class FakeVisibility implements Visibility {
  hidden = false;
  readonly #listeners = new Set<() => void>();
  isHidden = (): boolean => this.hidden;
  onChange = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };
  turn(hidden: boolean): void {
    this.hidden = hidden;
    for (const listener of [...this.#listeners]) listener();
  }
}

function tabs(count: number) {
  const locks = new FakeLocks() as unknown as LockManager;
  const over = new AbortController();
  return Array.from({ length: count }, () => {
    const visibility = new FakeVisibility();
    const slots = new TabSlots(locks, visibility);
    return { visibility, take: (purpose: Purpose) => slots.take(purpose, over.signal), over };
  });
}
/** Nothing here takes time: what is not settled after all due tasks have run is waiting. */
async function settled(promise: Promise<Slot | undefined>): Promise<Slot | undefined | "waits"> {
  let result: Slot | undefined | "waits" = "waits";
  void promise.then((slot) => {
    result = slot;
  });
  for (let turn = 0; turn < 100; turn += 1) await Promise.resolve();
  return result;
}

describe("slots", () => {
  test("the fifth stream of all tabs gets none, and one is free again when another is released", async () => {
    const [one, two, three] = tabs(3);
    if (one === undefined || two === undefined || three === undefined) throw new Error("three tabs");
    const first = await one.take("changes");
    for (const slot of [await one.take("session"), await two.take("changes"), await two.take("session")])
      expect(slot).toBeDefined();
    expect(await three.take("changes")).toBeUndefined();
    first?.release();
    await Promise.resolve();
    expect(await settled(three.take("changes"))).toMatchObject({ signal: expect.anything() });
  });

  test("a tab that is hidden gives up its session, and gets it back when it is seen", async () => {
    const [tab] = tabs(1);
    const slot = await tab?.take("session");
    tab?.visibility.turn(true);
    expect(slot?.signal.aborted).toBe(true);
    slot?.release();
    const again = tab?.take("session");
    if (tab === undefined || again === undefined) throw new Error("one tab");
    expect(await settled(again)).toBe("waits");
    tab.visibility.turn(false);
    expect(await settled(again)).toMatchObject({ signal: expect.anything() });
  });

  test("of ten hidden tabs one watches the changes, and the next one when it is gone", async () => {
    const ten = tabs(10);
    for (const tab of ten) tab.visibility.hidden = true;
    const asked = ten.map((tab) => tab.take("changes"));
    const got = await Promise.all(asked.map(settled));
    const holders = got.filter((slot) => slot !== "waits");
    expect(holders).toHaveLength(1);
    (holders[0] as Slot).release();
    const next = await Promise.all(asked.map(settled));
    expect(next.filter((slot) => slot !== "waits")).toHaveLength(2);
  });

  test("an aborted wait ends", async () => {
    const [tab] = tabs(1);
    if (tab === undefined) throw new Error("one tab");
    tab.visibility.hidden = true;
    const asked = tab.take("session");
    tab.over.abort(new Error("over"));
    await expect(asked).rejects.toThrow("over");
  });
});
