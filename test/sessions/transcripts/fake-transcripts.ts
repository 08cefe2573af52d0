// Transcripts of a fake agent: one JSON record a line, whose `event` is the event.
import { mkdtempSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TranscriptFile, TranscriptHead, Transcripts } from "../../../src/backends/types.ts";
import type { AgentEvent } from "../../../src/protocol/events.ts";
import { atEndOfTest } from "../fakes.ts";

export class FakeTranscripts implements Transcripts {
  readonly files: TranscriptFile[] = [];
  readonly pids = new Map<string, number>();
  lists = 0;
  /** Paths whose head was read. */
  readonly described: string[] = [];
  readonly #dir = mkdtempSync(join(tmpdir(), "transcripts-"));

  constructor() {
    atEndOfTest(() => rmSync(this.#dir, { recursive: true, force: true }));
  }

  put(session_id: string, events: readonly AgentEvent[], head: TranscriptHead = {}, mtime_s = 1_000): void {
    const path = join(this.#dir, `${session_id}.jsonl`);
    const lines = [
      { head: { cwd: "/srv/app", preview: "hello", ...head } },
      ...events.map((event, at) => ({ timestamp: new Date(at * 1000).toISOString(), event })),
    ];
    writeFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
    utimesSync(path, mtime_s, mtime_s);
    const { size } = statSync(path);
    const file = { session_id, path, mtime_ms: mtime_s * 1000, size };
    const at = this.files.findIndex((one) => one.session_id === session_id);
    this.files.splice(at === -1 ? this.files.length : at, at === -1 ? 0 : 1, file);
  }

  list = async () => {
    this.lists += 1;
    return [...this.files];
  };
  find = async (session_id: string) => this.files.find((file) => file.session_id === session_id);
  describe = async ({ path }: TranscriptFile) => {
    this.described.push(path);
    const [first = ""] = (await readFile(path, "utf8")).split("\n");
    const { head } = JSON.parse(first) as { head: TranscriptHead & { isOther?: true } };
    return head.isOther ? undefined : head;
  };
  holders = async () => this.pids;

  createReader() {
    let isOpen = false;
    const result = (subtype: "success" | "interrupted"): AgentEvent => ({
      type: "agent.result",
      backend: "fake",
      subtype,
    });
    return {
      read({ event }: { event?: AgentEvent }): AgentEvent[] {
        if (event === undefined) return [];
        isOpen = event.type !== "agent.result";
        return [event];
      },
      end: () => (isOpen ? [result("interrupted")] : []),
    };
  }
}

export const said = (content: string): AgentEvent => ({
  type: "agent.user_echo",
  backend: "fake",
  message: { role: "user", content },
});
export const answered = (text: string): AgentEvent => ({
  type: "agent.message",
  backend: "fake",
  role: "assistant",
  content: [{ type: "text", text }],
});
export const DONE: AgentEvent = { type: "agent.result", backend: "fake", subtype: "success" };
