// Reads the chunks of an answer. Servers send JSON for streams, events for whole answers and wrong content types, so the
// first character decides how the body is read.
import { setTimeout as wait } from "node:timers/promises";
import { createParser } from "eventsource-parser";
import { cutExcerpt } from "../../base/excerpt.ts";
import { type Endpoint, protocolError, redact } from "./failure.ts";
import { readErrorBody } from "./vendor-error.ts";

const DONE = "[DONE]";
/** How long to wait for the end of the body after the last event: reading it lets the connection be reused. */
const CLOSE_GRACE_MS = 250;
const SHOWN_CHARS = 200;

export type Chunk = { value: unknown } | "end";

/**
 * Yields "end" after `[DONE]`, a value for which `isLast` is true, or a whole answer. Throws `ProviderError` and
 * connection errors.
 */
export async function* readChunks(
  body: ReadableStream<Uint8Array>,
  endpoint: Endpoint,
  isLast: (value: unknown) => boolean = () => false,
): AsyncGenerator<Chunk> {
  const reader = body.getReader();
  try {
    const text = readText(reader);
    const head = await readHead(text);
    const all = prepend(head, text);
    if (/^\s*[[{]/.test(head)) yield* parseWhole(await collect(all), endpoint);
    else if (/^\s*</.test(head))
      throw protocolError(
        endpoint,
        `failed: ${readErrorBody(redact(await collect(all), endpoint.secrets)).message}`,
      );
    else yield* readEventChunks(all, endpoint, isLast);
  } finally {
    await reader.cancel().catch(() => undefined); // A broken connection has already been reported.
  }
}

/** Reads the first `maxChars` characters of a body. */
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
    // The text received so far says more than the error.
  } finally {
    await reader.cancel().catch(() => undefined); // The rest is not needed.
  }
  return start.slice(0, maxChars);
}

function* parseWhole(text: string, endpoint: Endpoint): Generator<Chunk> {
  yield { value: parse(text, endpoint) };
  yield "end";
}

async function* readEventChunks(
  text: AsyncGenerator<string>,
  endpoint: Endpoint,
  isLast: (value: unknown) => boolean,
): AsyncGenerator<Chunk> {
  const noted = { start: "" };
  const events = readEvents(recordStart(text, noted), endpoint);
  let count = 0;
  for (let next = await events.next(); !next.done; next = await events.next()) {
    count += 1;
    const data = next.value.trim();
    if (data === "") continue;
    const value = data === DONE ? undefined : parse(data, endpoint);
    if (value !== undefined) yield { value };
    if (data === DONE || isLast(value)) {
      yield "end";
      await Promise.race([collect(events).catch(() => ""), wait(CLOSE_GRACE_MS, undefined, { ref: false })]);
      return;
    }
  }
  const start = noted.start.trim().replace(/[\ud800-\udbff]$/, "");
  if (count === 0 && start !== "" && !start.startsWith(":")) {
    throw protocolError(endpoint, `answered with something other than events: "${start}"`);
  }
}

function parse(text: string, endpoint: Endpoint): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    const shown = cutExcerpt(redact(text, endpoint.secrets), SHOWN_CHARS);
    throw protocolError(endpoint, `sent invalid JSON: "${shown}"`, cause);
  }
}

async function* readText(reader: ReadableStreamDefaultReader<Uint8Array>): AsyncGenerator<string> {
  // Not fatal: invalid UTF-8 is replaced and does not end the answer.
  const decoder = new TextDecoder();
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    yield decoder.decode(next.value, { stream: true });
  }
  yield decoder.decode();
}

/** Reads up to the first visible character. */
async function readHead(text: AsyncGenerator<string>): Promise<string> {
  let head = "";
  while (head.trim() === "") {
    const next = await text.next();
    if (next.done) return head;
    head += next.value;
  }
  return head;
}

/** Passes the text on and records its start. */
async function* recordStart(text: AsyncIterable<string>, noted: { start: string }): AsyncGenerator<string> {
  for await (const piece of text) {
    if (noted.start.length < SHOWN_CHARS)
      noted.start = (noted.start + piece).trimStart().slice(0, SHOWN_CHARS);
    yield piece;
  }
}

async function* prepend(head: string, text: AsyncGenerator<string>): AsyncGenerator<string> {
  yield head;
  yield* text;
}

async function collect(text: AsyncIterable<string>): Promise<string> {
  const pieces: string[] = [];
  for await (const piece of text) pieces.push(piece);
  return pieces.join("");
}

const MAX_EVENT_CHARS = 4 * 1024 * 1024;

/**
 * Reads the data of server-sent events. Throws `ProviderError` for an event that is too long. A last event that was cut
 * off is yielded too.
 */
async function* readEvents(text: AsyncIterable<string>, endpoint: Endpoint): AsyncGenerator<string> {
  const ready: string[] = [];
  let isTooLong = false;
  const parser = createParser({
    maxBufferSize: MAX_EVENT_CHARS,
    onEvent: ({ data }) => ready.push(data),
    onError: ({ type }) => {
      if (type === "max-buffer-size-exceeded") isTooLong = true;
    },
  });
  for await (const piece of text) {
    parser.feed(piece);
    yield* ready.splice(0);
    if (isTooLong) throw protocolError(endpoint, `sent an event of more than ${MAX_EVENT_CHARS} characters`);
  }
  // Some servers omit the blank line after the last event.
  parser.feed("\n\n");
  yield* ready.splice(0);
}
