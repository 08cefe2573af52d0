// The prompt fed from a pipe or a file: a line after another; at the end it waits for what was asked.
import type { Readable } from "node:stream";
import { LineSplitter } from "../../base/ndjson.ts";
import type { Repl } from "./repl.ts";

const MAX_LINE_BYTES = 64 * 1024 * 1024;

export async function feedFrom(input: Readable, repl: Repl): Promise<void> {
  const lines: string[] = [];
  // Not readline: it would also split at U+2028, which may stand inside JSON.
  const splitter = new LineSplitter(MAX_LINE_BYTES, {
    line: (text) => lines.push(text),
    badLine: () => repl.print("a line is not UTF-8; skipped"),
    oversize: (bytes) => repl.print(`a line of ${bytes} bytes is too long; skipped`),
  });
  for await (const chunk of input) {
    splitter.push(Buffer.from(chunk));
    await drain(lines, repl);
    if (repl.isOver) break;
  }
  lines.push(splitter.rest().toString("utf8"));
  await drain(lines, repl);
  if (!repl.isOver) await repl.settled();
}

async function drain(lines: string[], repl: Repl): Promise<void> {
  for (const line of lines.splice(0)) {
    if (repl.isOver) return;
    await repl.execute(line);
  }
}
