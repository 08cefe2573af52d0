// The chunks of an answer. A stream was asked for, or not; what came is told by its first character, because servers
// answer with JSON to the one and with events to the other, whatever their content type says.
import { setTimeout as wait } from "node:timers/promises";
import { excerpt } from "../../base/excerpt.ts";
import { type Place, protocolError, redact } from "./failure.ts";
import { readEvents } from "./sse.ts";
import { readErrorBody } from "./vendor-error.ts";

const DONE = "[DONE]";
/** The end of the connection mostly comes with the last event. Reading it lets the connection be used again. */
const LAST_WORDS_MS = 250;
const SHOWN_CHARS = 200;

export type Chunk = { value: unknown } | "end";

/**
 * "end" comes when the server says that this was all, by its own word or by a value that `isLast` knows.
 * Throws `ProviderError` and what the connection throws.
 */
export async function* readChunks(
  body: ReadableStream<Uint8Array>,
  place: Place,
  isLast: (value: unknown) => boolean = () => false,
): AsyncGenerator<Chunk> {
  const reader = body.getReader();
  try {
    const text = readText(reader);
    const head = await readHead(text);
    const all = after(head, text);
    if (/^\s*[[{]/.test(head)) yield* wholeAnswer(await collect(all), place);
    else if (/^\s*</.test(head))
      throw protocolError(
        place,
        `failed: ${readErrorBody(redact(await collect(all), place.secrets)).message}`,
      );
    else yield* eventChunks(all, place, isLast);
  } finally {
    await reader.cancel().catch(() => undefined); // It may have broken; who reads has been told.
  }
}

/** The beginning of a text, and no more than `maxChars` are read of it. */
export async function readStart(body: ReadableStream<Uint8Array> | null, maxChars: number): Promise<string> {
  if (body === null) return "";
  const reader = body.getReader();
  let start = "";
  try {
    for await (const piece of readText(reader)) {
      start += piece;
      if (start.length >= maxChars) break;
    }
  } catch {
    // What came before it broke says more than that it broke.
  } finally {
    await reader.cancel().catch(() => undefined); // The rest is not wanted.
  }
  return start.slice(0, maxChars);
}

function* wholeAnswer(text: string, place: Place): Generator<Chunk> {
  yield { value: parse(text, place) };
  yield "end";
}

async function* eventChunks(
  text: AsyncGenerator<string>,
  place: Place,
  isLast: (value: unknown) => boolean,
): AsyncGenerator<Chunk> {
  const noted = { start: "" };
  const events = readEvents(noting(text, noted), place);
  let count = 0;
  for (let next = await events.next(); !next.done; next = await events.next()) {
    count += 1;
    const data = next.value.trim();
    if (data === "") continue;
    const value = data === DONE ? undefined : parse(data, place);
    if (value !== undefined) yield { value };
    if (data === DONE || isLast(value)) {
      yield "end";
      await Promise.race([collect(events).catch(() => ""), wait(LAST_WORDS_MS, undefined, { ref: false })]);
      return;
    }
  }
  const start = noted.start.trim().replace(/[\ud800-\udbff]$/, "");
  if (count === 0 && start !== "" && !start.startsWith(":")) {
    throw protocolError(place, `answered with something else than events: "${start}"`);
  }
}

function parse(text: string, place: Place): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    const shown = excerpt(redact(text, place.secrets), SHOWN_CHARS);
    throw protocolError(place, `sent something that is no JSON: "${shown}"`, cause);
  }
}

async function* readText(reader: ReadableStreamDefaultReader<Uint8Array>): AsyncGenerator<string> {
  // Not fatal: half a character in an answer is shown as one, not the end of it.
  const decoder = new TextDecoder();
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    yield decoder.decode(next.value, { stream: true });
  }
  yield decoder.decode();
}

/** Enough to see what it is. */
async function readHead(text: AsyncGenerator<string>): Promise<string> {
  let head = "";
  while (head.trim() === "") {
    const next = await text.next();
    if (next.done) return head;
    head += next.value;
  }
  return head;
}

/** Keeps the beginning of what passes, however it was cut. */
async function* noting(text: AsyncIterable<string>, noted: { start: string }): AsyncGenerator<string> {
  for await (const piece of text) {
    if (noted.start.length < SHOWN_CHARS)
      noted.start = (noted.start + piece).trimStart().slice(0, SHOWN_CHARS);
    yield piece;
  }
}

async function* after(head: string, text: AsyncGenerator<string>): AsyncGenerator<string> {
  yield head;
  yield* text;
}

async function collect(text: AsyncIterable<string>): Promise<string> {
  const pieces: string[] = [];
  for await (const piece of text) pieces.push(piece);
  return pieces.join("");
}
