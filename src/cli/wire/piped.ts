// Runs the lines of a pipe or file, then waits for the answers.
import type { Readable } from "node:stream";
import { LineSplitter } from "../../base/ndjson.ts";
import type { Repl } from "./repl.ts";

const MAX_LINE_BYTES = 64 * 1024 * 1024;

export async function feedFrom(input: Readable, repl: Repl): Promise<void> {
  const lines: string[] = [];
  // Not readline: it would also split at U+2028, which may occur inside JSON.
  const splitter = new LineSplitter(MAX_LINE_BYTES, {
    line: (text) => lines.push(text),
    badLine: () => repl.print("skipped a line that is not UTF-8"),
    oversize: (bytes) => repl.print(`skipped a line of ${bytes} bytes: too long`),
  });
  for await (const chunk of input) {
    splitter.push(Buffer.from(chunk));
    await drain(lines, repl);
    if (repl.isOver) break;
  }
  lines.push(splitter.rest().toString("utf8"));
  await drain(lines, repl);
  if (!repl.isOver) await repl.waitUntilSettled();
}

async function drain(lines: string[], repl: Repl): Promise<void> {
  for (const line of lines.splice(0)) {
    if (repl.isOver) return;
    await repl.execute(line);
  }
}
