// Prints a session's frames as a conversation: the agent's text to stdout; tools, notices and errors to stderr. Of
// sub-agents only notices are printed. While a request is pending everything has a bar, so that it cannot imitate the
// request.

import { sanitize } from "../../base/sanitize.ts";
import {
  applyInputs,
  changedEntries,
  emptyView,
  type RequestRow,
  readRequest,
  type SessionFrame,
  type WireFrame,
} from "../../client/index.ts";
import type { EntryChange } from "../../client/view.ts";
import { joinText } from "../../protocol/message-text.ts";
import { drawBarLines } from "../bar.ts";
import { formatEntry } from "../entry-lines.ts";
import type { Output } from "../output.ts";
import { formatRequest, makeHint, type RequestWords } from "../request-text.ts";

/** Of a row; a terminal wraps it. */
const MAX_COLUMNS = 2000;
const MAX_HELD = 8192;
/** Older entries no longer change. */
const LIMITS = { maxEntries: 500 };

export class Renderer {
  readonly #output: Output;
  readonly #words: RequestWords;
  readonly #hint: Hint;
  /** Knows which requests are pending, which calls were not run, and how long the user was asked. */
  #view = emptyView();
  #isBarred = false;
  /** The start of a line that is not printed yet. */
  #held = "";
  /** The current message was streamed as deltas, so its full text is not printed again. */
  #hasStreamed = false;
  #isAtLineStart = true;

  constructor(output: Output, words: RequestWords, hint: Hint = (row) => makeHint(row, words)) {
    this.#output = output;
    this.#words = words;
    this.#hint = hint;
  }

  async show(frame: SessionFrame): Promise<void> {
    const isBarred = this.#view.requests.length > 0;
    if (isBarred !== this.#isBarred) await this.#endLine();
    this.#isBarred = isBarred;
    const changed = this.#follow(frame);
    if (!(await this.#ask(frame))) await this.#showFrame(frame, changed);
  }

  #follow(frame: SessionFrame): EntryChange[] {
    const before = this.#view;
    const input = { kind: "frame", seq: null, frame: frame as unknown as WireFrame } as const;
    this.#view = applyInputs(before, [input], LIMITS);
    return changedEntries(before, this.#view);
  }

  async #showFrame(frame: SessionFrame, changed: readonly EntryChange[]): Promise<void> {
    const isOfSubAgent = "parent_tool_use_id" in frame && frame.parent_tool_use_id !== undefined;
    if (isOfSubAgent && frame.type !== "agent.notice") return;
    if (frame.type === "agent.delta") {
      if (frame.kind !== "text" || frame.text === undefined) return;
      this.#hasStreamed = true;
      await this.#say(frame.text);
    } else if (frame.type === "agent.message") {
      if (!this.#hasStreamed) await this.#say(joinText(frame.content));
      this.#hasStreamed = false;
      await this.#endLine();
    } else {
      const talks = describeSign(frame) ?? this.#describeEntries(changed);
      if (talks.length > 0 || frame.type === "agent.result") await this.#endLine();
      for (const talk of talks) this.#talk(talk);
    }
  }

  /** Without texts, which were printed as they arrived. */
  #describeEntries(changed: readonly EntryChange[]): Talk[] {
    return changed
      .filter(({ entry }) => entry.kind !== "text")
      .flatMap((change) => formatEntry(change, MAX_COLUMNS, this.#words))
      .map(({ text, style }) => ({ text, isError: style === "red" }));
  }

  /** True if the frame is a pending request. */
  async #ask(frame: SessionFrame): Promise<boolean> {
    const news = readRequest(frame);
    if (news?.status !== "pending") return false;
    await this.#endLine();
    const lines = formatRequest(news, this.#hint(news), this.#output.talkColumns, { words: this.#words });
    this.#output.ask(lines.join("\n"));
    return true;
  }

  async #say(text: string): Promise<void> {
    if (text === "") return;
    // Files and pipes get the text unchanged.
    if (!this.#isBarred || !this.#output.isTerminal) {
      this.#isAtLineStart = text.endsWith("\n");
      await this.#output.text(text);
      return;
    }
    // Whole lines only: the prompt would overwrite a partial row, and the rest would lack its bar.
    const held = this.#held + text;
    const end = held.length > MAX_HELD ? held.length : held.lastIndexOf("\n") + 1;
    this.#held = held.slice(end);
    this.#isAtLineStart = this.#held === "";
    if (end === 0) return;
    const rows = drawBarLines(sanitize(held.slice(0, end)), this.#output.columns);
    await this.#output.text(`${rows.join("\n")}\n`);
  }

  #talk({ text, isError }: Talk): void {
    const shown = this.#isBarred ? drawBarLines(sanitize(text), this.#output.talkColumns).join("\n") : text;
    if (isError) this.#output.error(shown);
    else this.#output.note(shown);
  }

  async #endLine(): Promise<void> {
    if (!this.#isAtLineStart) await this.#say("\n");
  }
}

/** How to answer from where the request is shown. */
export type Hint = (row: RequestRow) => string;

interface Talk {
  text: string;
  isError?: boolean;
}

type Signs = {
  [T in SessionFrame["type"]]?: (frame: Extract<SessionFrame, { type: T }>) => Talk;
};

/** About the stream itself. */
const SIGNS: Signs = {
  "blemeesd.replay_gap": (frame) => ({
    text: gapText(frame.since_seq, frame.first_available_seq),
    isError: true,
  }),
  "blemeesd.catching_up": (frame) => ({ text: `· fell behind; catching up to event ${frame.last_seq}` }),
  "blemeesd.session_taken": (frame) => ({
    text: `· taken over by ${frame.by_peer_pid === undefined ? "another client" : `process ${frame.by_peer_pid}`}`,
    isError: true,
  }),
  "blemeesd.session_closed": (frame) => ({ text: `· session closed (${frame.reason})` }),
  "client.message_lost": (frame) => ({ text: `✗ ${frame.message}`, isError: true }),
};

function describeSign(frame: SessionFrame): Talk[] | undefined {
  const sign = SIGNS[frame.type] as ((frame: SessionFrame) => Talk) | undefined;
  return sign === undefined ? undefined : [sign(frame)];
}

function gapText(since: number, first: number): string {
  return first <= since
    ? "· the daemon lost this session's history; it starts over"
    : `· events ${since + 1} to ${first - 1} have been pruned`;
}
