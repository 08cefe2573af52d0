// Runs operations one after another, whatever the outcome of each.
import { expect, test } from "vitest";
import { Serial } from "../../src/base/serial.ts";

test("an operation starts only when the one before it has ended", async () => {
  const serial = new Serial();
  const order: string[] = [];
  const step = (name: string) => async () => {
    order.push(`${name} starts`);
    await new Promise((resolve) => setImmediate(resolve));
    order.push(`${name} ends`);
    return name;
  };
  expect(await Promise.all([serial.run(step("a")), serial.run(step("b"))])).toEqual(["a", "b"]);
  expect(order).toEqual(["a starts", "a ends", "b starts", "b ends"]);
});

test("a failure reaches its caller and none of the later ones", async () => {
  const serial = new Serial();
  const failed = serial.run(() => Promise.reject(new Error("no")));
  const next = serial.run(() => Promise.resolve("fine"));
  await expect(failed).rejects.toThrow("no");
  expect(await next).toBe("fine");
});

test("idle resolves when everything queued is done, failed or not", async () => {
  const serial = new Serial();
  let done = 0;
  serial.run(() => Promise.reject(new Error("no"))).catch(() => undefined);
  void serial.run(async () => {
    done += 1;
  });
  await serial.idle();
  expect(done).toBe(1);
});

test("begin starts at once if nothing is running, and what it queues itself comes after it", async () => {
  const serial = new Serial();
  const order: string[] = [];
  const first = serial.begin(async () => {
    order.push("a starts");
    void serial.begin(async () => void order.push("b"));
    await new Promise((resolve) => setImmediate(resolve));
    order.push("a ends");
  });
  expect(order).toEqual(["a starts"]);
  await first;
  await serial.idle();
  expect(order).toEqual(["a starts", "a ends", "b"]);
});
