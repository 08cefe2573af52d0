import { expect, test } from "vitest";
import { Lookups } from "../../../src/base/commands/lookups.ts";

test("lookups of one key at the same time are one, and nothing is kept after it", async () => {
  const lookups = new Lookups();
  let count = 0;
  const look = async () => {
    count += 1;
    return count;
  };
  expect(await Promise.all([1, 2, 3].map(() => lookups.share("a", look)))).toEqual([1, 1, 1]);
  expect(await lookups.share("a", look)).toBe(2);
  expect(await Promise.all([lookups.share("a", look), lookups.share("b", look)])).toEqual([3, 4]);
  const fail = () => Promise.reject(new Error("gone"));
  await expect(Promise.all([lookups.share("a", fail), lookups.share("a", fail)])).rejects.toThrow("gone");
  expect(await lookups.share("a", look)).toBe(5);
});
