// A real FIFO; the reader is in this process, so that it reads when the test says so.
// lane: process
import { closeSync, constants, openSync, readSync } from "node:fs";
import { expect, onTestFinished, test, vi } from "vitest";
import { createRunDirectory } from "../../../src/base/runs/directory.ts";
import { FifoWriter } from "../../../src/base/runs/fifo.ts";
import { tempDir } from "../../backends/temp-dir.ts";
import { PATIENT } from "../../support/patience.ts";

const root = tempDir("fifo");

function openPair(): { path: string; fifo: FifoWriter; read(): string; hangUp(): void } {
  const { input } = createRunDirectory(root);
  const fd = openSync(input, constants.O_RDONLY | constants.O_NONBLOCK);
  const fifo = new FifoWriter(input);
  const buffer = Buffer.alloc(1024 * 1024);
  const read = () => {
    try {
      return buffer.toString("utf8", 0, readSync(fd, buffer));
    } catch {
      return ""; // EAGAIN: nothing is there
    }
  };
  let isOpen = true;
  const hangUp = () => {
    if (isOpen) closeSync(fd);
    isOpen = false;
  };
  onTestFinished(() => {
    fifo.close();
    hangUp();
  });
  return { path: input, fifo, read, hangUp };
}

test("a line that fits is there at once, and reported as whole before the promise resolves", () => {
  const { fifo, read } = openPair();
  const whole = vi.fn();
  void fifo.write(Buffer.from("hello\n"), whole);
  expect(whole).toHaveBeenCalledOnce();
  expect(read()).toBe("hello\n");
});

test("what does not fit waits for the reader; lines stay whole and in order", async () => {
  const { fifo, read } = openPair();
  const lines = Array.from({ length: 40 }, (_, n) => `${n}${"x".repeat(50_000)}\n`);
  const whole: number[] = [];
  const written = Promise.all(
    lines.map((line, n) => fifo.write(Buffer.from(line), () => void whole.push(n))),
  );
  expect(whole.length).toBeLessThan(lines.length);
  let text = "";
  await vi.waitFor(() => {
    for (let more = read(); more !== ""; more = read()) text += more;
    expect(text.length).toBe(lines.join("").length);
  }, PATIENT);
  await fifo.drained();
  expect(whole).toHaveLength(lines.length);
  await written;
  expect(text).toBe(lines.join(""));
  expect(whole).toEqual(lines.map((_, n) => n));
});

test("without a reader every waiting line is refused, none is reported as whole", async () => {
  const { path, fifo, hangUp } = openPair();
  const whole = vi.fn();
  const big = fifo.write(Buffer.alloc(4 * 1024 * 1024), whole);
  const next = fifo.write(Buffer.from("next\n"), whole);
  hangUp();
  await expect(big).rejects.toThrow("EPIPE");
  await expect(next).rejects.toThrow("EPIPE");
  await fifo.drained();
  expect(whole).not.toHaveBeenCalled();
  expect(() => new FifoWriter(path)).toThrow(`no process reads ${path}`);
});

test("a closed one refuses what waits and what comes", async () => {
  const { fifo } = openPair();
  const waiting = fifo.write(Buffer.alloc(4 * 1024 * 1024), () => undefined);
  fifo.close();
  await expect(waiting).rejects.toThrow("closed");
  await expect(fifo.write(Buffer.from("late\n"), () => undefined)).rejects.toThrow("closed");
});
