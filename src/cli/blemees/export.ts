// `sm export`: a session as one file for other people. Secrets are masked, and listed before anything is written.

import { lstatSync } from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import { resolve } from "node:path";
import { CodedError } from "../../base/coded-error.ts";
import { sanitizeJson } from "../../base/sanitize.ts";
import { maskShared } from "../../base/secrets.ts";
import type { Entry, EventView, HttpClient, SessionView } from "../../client/index.ts";
import { EntryReader, mapTexts } from "../../client/view/export-entries.ts";
import { toMarkdown, toMarkdownHead } from "../../client/view/export-markdown.ts";
import { type Arguments, defineFlag, readTextFlag, UsageError } from "../command.ts";
import type { BlemeesCommand, BlemeesContext } from "./command.ts";
import { findSession } from "./find.ts";

const PAGE = 500;

type Format = "md" | "html" | "json";
/** Writes a piece of the document. */
type Write = (text: string) => Promise<void>;

interface Found {
  count: number;
  /** The first event, and how the secret starts. */
  seq: number | null;
  start: string;
}

export const EXPORT: BlemeesCommand = {
  name: "export",
  usage: "export ID",
  summary:
    "write a session as one file: Markdown, a page without scripts, or JSON; secrets are masked and listed first",
  words: [1, 1],
  completes: "session",
  flags: [
    defineFlag("--md", "Markdown (default)"),
    defineFlag("--html", "one HTML page that loads nothing"),
    defineFlag("-o, --output FILE", "write to this file (0600), not to stdout", { completes: "file" }),
    defineFlag("--force", "replace the file if it exists"),
  ],
  examples: [
    "export fixer -o fixer.md",
    "export fixer --html -o fixer.html",
    "export fixer --json | jq .events",
  ],
  notes: [
    "With --json: the session and its events, without the pieces in which texts were streamed. Masked is what has the form of",
    "a secret; look at the file before you share it.",
  ],
  async run(given, context) {
    const format = readFormat(given, context);
    const target = readTextFlag(given, "output");
    const path = target === undefined ? undefined : resolve(target);
    checkTarget(path, given.flags["force"] === true);
    const http = await context.connect();
    const found = await findSession(http, given.words[0] ?? "");
    const { last_seq } = found;
    const secrets = new Map<string, Found>();
    for await (const events of readPages(http, found.session_id, last_seq))
      for (const { frame, seq } of events) mask(frame, seq, secrets);
    const session = mask(found, null, secrets);
    listSecrets(secrets, context);
    const write = (put: Write) =>
      writeDocument({ http, session, id: found.session_id, last_seq, format, put });
    if (path === undefined) await write((text) => context.output.text(text));
    else {
      await writeFileSafely(path, write);
      context.output.note(`Wrote ${path}`);
    }
    return 0;
  },
};

function readFormat({ flags }: Arguments, { isJson }: BlemeesContext): Format {
  const chosen = [
    ...(flags["md"] ? ["md"] : []),
    ...(flags["html"] ? ["html"] : []),
    ...(isJson ? ["json"] : []),
  ];
  if (chosen.length > 1) throw new UsageError(`use one of --md, --html and --json, not ${chosen.length}`);
  return (chosen[0] ?? "md") as Format;
}

function checkTarget(path: string | undefined, mayReplace: boolean): void {
  const stats = path === undefined ? undefined : lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return;
  if (!stats.isFile()) throw new UsageError(`${path} is not a file`);
  if (!mayReplace) throw new UsageError(`${path} exists; add --force to replace it`);
}

/** Only events that existed when the secrets were listed. */
async function* readPages(
  http: HttpClient,
  session_id: string,
  last_seq: number,
): AsyncGenerator<EventView[], void> {
  for (let since_seq = 0; since_seq < last_seq; ) {
    const page = await http.events(session_id, { since_seq, limit: PAGE });
    yield page.events.filter(({ seq }) => (seq ?? 0) <= last_seq);
    if (page.events.length === 0 || page.next_seq <= since_seq) return;
    since_seq = page.next_seq;
  }
}

function mask<T>(value: T, seq: number | null, secrets?: Map<string, Found>): T {
  return mapTexts(value, (text) =>
    maskShared(text, (name, start) => {
      const known = secrets?.get(name);
      secrets?.set(
        name,
        known === undefined ? { count: 1, seq, start } : { ...known, count: known.count + 1 },
      );
    }),
  );
}

function listSecrets(secrets: ReadonlyMap<string, Found>, { output }: BlemeesContext): void {
  if (secrets.size === 0) {
    output.note("No secrets of a known form were found; look at the file before you share it");
    return;
  }
  output.ask("Masked:");
  for (const [name, { count, seq, start }] of secrets) {
    const where = seq === null ? "in the session's name" : `first in event ${seq}`;
    output.ask(`  ${count} × ${name} (${start}…, ${where})`);
  }
}

interface Document {
  http: HttpClient;
  session: SessionView;
  id: string;
  last_seq: number;
  format: Format;
  put: Write;
}

async function writeDocument({ http, session, id, last_seq, format, put }: Document): Promise<void> {
  const pages = readPages(http, id, last_seq);
  if (format === "json") return writeJson(session, pages, put);
  const { head, show, end } = await chooseForm(session, format);
  await put(head);
  const reader = new EntryReader();
  for await (const events of pages)
    for (const entry of reader.read({ events }, (frame) => mask(frame, null))) await put(show(entry));
  for (const entry of reader.end()) await put(show(entry));
  await put(end);
}

async function chooseForm(
  session: SessionView,
  format: Format,
): Promise<{ head: string; show: (entry: Entry) => string; end: string }> {
  if (format !== "html") return { head: toMarkdownHead(session), show: toMarkdown, end: "" };
  // It loads the parser of Markdown.
  const { HTML_END, toHtml, toHtmlHead } = await import("../../client/view/export-html.ts");
  return { head: toHtmlHead(session), show: toHtml, end: HTML_END };
}

async function writeJson(session: SessionView, pages: AsyncIterable<EventView[]>, put: Write): Promise<void> {
  await put(`{"session":${toJson(session)},"events":[`);
  let separator = "\n";
  for await (const events of pages) {
    for (const event of events) {
      if (event.type === "agent.delta") continue;
      await put(`${separator}${toJson(mask(event, event.seq))}`);
      separator = ",\n";
    }
  }
  await put("\n]}\n");
}

function toJson(value: object): string {
  return sanitizeJson(JSON.stringify(value));
}

/** Whole or not at all. */
async function writeFileSafely(path: string, write: (put: Write) => Promise<void>): Promise<void> {
  const part = `${path}.${process.pid}.part`;
  const handle = await open(part, "wx", 0o600).catch((cause: Error) => {
    throw new CodedError("write_failed", `${path} cannot be written: ${cause.message}`, { cause });
  });
  try {
    await write(async (text) => void (await handle.write(text)));
    await handle.close();
    await rename(part, path);
  } catch (error) {
    await handle.close().catch(() => undefined);
    await rm(part, { force: true });
    throw error;
  }
}
