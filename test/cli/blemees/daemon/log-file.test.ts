import { appendFileSync, mkdtempSync, renameSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { readLastLines } from "../../../../src/base/last-lines.ts";
import { followLines } from "../../../../src/cli/blemees/daemon/log-file.ts";

let directory: string;
let file: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "log-file-"));
  file = join(directory, "x.log");
});
afterEach(() => rmSync(directory, { recursive: true }));

describe("the last lines", () => {
  test.each([
    ["a\nb\nc\n", 2, ["b", "c"], 6],
    ["a\nb\nc\n", 10, ["a", "b", "c"], 6],
    ["a\nb\n\n", 2, ["b", ""], 5],
    ["a\nb\nunfinish", 2, ["a", "b"], 4],
    ["a\nb\n", 0, [], 4],
    ["unfinish", 5, [], 0],
    ["", 5, [], 0],
  ])("of %j, %d of them, are %j", (text, count, lines, end) => {
    writeFileSync(file, text);
    expect(readLastLines(file, count)).toEqual({ lines, end });
  });

  test("of a file of many blocks are whole, also where a character crosses the blocks", () => {
    const all = Array.from({ length: 4_000 }, (_, n) => `${n} ${"ä€😀".repeat(n % 40)}`);
    writeFileSync(file, `${all.join("\n")}\n`);
    for (const count of [1, 50, 1_500, 3_999, 9_999])
      expect(readLastLines(file, count).lines).toEqual(all.slice(-count));
  });

  test("of a file that does not exist are an error with its path", () => {
    expect(() => readLastLines(file, 5)).toThrow(`the log ${file} cannot be read: ENOENT`);
  });
});

describe("a followed file", () => {
  /** Reads as many lines as `steps` has, after each of them. */
  async function follow(steps: (() => void)[], expected: string[]): Promise<void> {
    const stop = new AbortController();
    const lines: string[] = [];
    const following = followLines(file, 0, stop.signal);
    for (const step of steps) {
      step();
      const { value } = await following.next();
      lines.push(value ?? "");
    }
    stop.abort();
    expect(await following.next()).toEqual({ done: true, value: undefined });
    expect(lines).toEqual(expected);
  }

  test("gives each line once it is complete", async () => {
    writeFileSync(file, "one\ntw");
    const euro = Buffer.from("€");
    await follow(
      [
        () => undefined,
        () => appendFileSync(file, "o\n"),
        () => {
          appendFileSync(file, euro.subarray(0, 1));
          appendFileSync(file, Buffer.concat([euro.subarray(1), Buffer.from("\n")]));
        },
      ],
      ["one", "two", "€"],
    );
  });

  test("is followed by its name: the new file after a rotation, and a file that was emptied", async () => {
    writeFileSync(file, "old\n");
    await follow(
      [
        () => undefined,
        () => {
          renameSync(file, `${file}.1`);
          writeFileSync(file, "first of the new file\n");
        },
        () => {
          truncateSync(file);
          appendFileSync(file, "again\n");
        },
      ],
      ["old", "first of the new file", "again"],
    );
  });

  test("that has moved away is followed until there is a new one", async () => {
    writeFileSync(file, "old\n");
    await follow(
      [
        () => undefined,
        () => {
          renameSync(file, `${file}.1`);
          appendFileSync(`${file}.1`, "last words\n");
        },
        () => writeFileSync(file, "new\n"),
      ],
      ["old", "last words", "new"],
    );
  });
});
