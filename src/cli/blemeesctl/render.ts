// A session's frames as a conversation: what the agent says goes to stdout, tools, notices and troubles to
// stderr. Of sub-agents only notices are told: their start, their end, their troubles. While a request waits, all of it stands behind a bar, so
// that nothing an agent says can pass for the request.
import { sanitize } from "../../base/sanitize.ts";
import { type RequestRow, requestOf, type SessionFrame, type WireFrame } from "../../client/index.ts";
import { notRunText } from "../../protocol/not-run.ts";
import { behindBar } from "../bar.ts";
import type { Output } from "../output.ts";
import { requestLines } from "../request-text.ts";
import { Asked } from "./asked.ts";
import { Decided } from "./decided.ts";

const MAX_DETAIL = 200;
const MAX_HELD = 8192;

export class Renderer {
  readonly #output: Output;
  readonly #hint: Hint;
  readonly #asked = new Asked();
  readonly #decided = new Decided();
  #isBarred = false;
  /** The beginning of a line that is not printed yet. */
  #held = "";
  /** The message being built came by deltas, so its whole text is not printed again. */
  #hasStreamed = false;
  #isAtLineStart = true;

  constructor(output: Output, hint: Hint = answerInShell) {
    this.#output = output;
    this.#hint = hint;
  }

  async show(frame: SessionFrame): Promise<void> {
    const isBarred = this.#asked.pending.length > 0;
    if (isBarred !== this.#isBarred) await this.#endLine();
    this.#isBarred = isBarred;
    if (!(await this.#ask(frame))) await this.#tell(frame);
    this.#asked.see(frame as unknown as WireFrame);
    this.#decided.see(frame);
  }

  async #tell(frame: SessionFrame): Promise<void> {
    const isOfSubAgent = "parent_tool_use_id" in frame && frame.parent_tool_use_id !== undefined;
    if (isOfSubAgent && frame.type !== "agent.notice") return;
    if (frame.type === "agent.delta") {
      if (frame.kind !== "text" || frame.text === undefined) return;
      this.#hasStreamed = true;
      await this.#say(frame.text);
    } else if (frame.type === "agent.message") {
      if (!this.#hasStreamed) await this.#say(textOf(frame.content));
      this.#hasStreamed = false;
      await this.#endLine();
    } else if (frame.type === "agent.result") {
      await this.#endLine();
      this.#result(frame);
    } else {
      const talk = this.#notRun(frame) ?? talkOf(frame);
      if (talk === undefined) return;
      await this.#endLine();
      this.#talk(talk);
    }
  }

  /** True when the frame was a request that waits for an answer. */
  async #ask(frame: SessionFrame): Promise<boolean> {
    const news = requestOf(frame);
    if (news?.status !== "pending") return false;
    await this.#endLine();
    this.#output.ask(requestLines(news, this.#hint(news), this.#output.talkColumns).join("\n"));
    return true;
  }

  async #say(text: string): Promise<void> {
    if (text === "") return;
    // What goes into a file or a pipe is the answer as it is.
    if (!this.#isBarred || !this.#output.isTerminal) {
      this.#isAtLineStart = text.endsWith("\n");
      await this.#output.text(text);
      return;
    }
    // Whole lines only: the prompt takes the row that it is drawn on, and what followed would have lost its bar.
    const held = this.#held + text;
    const end = held.length > MAX_HELD ? held.length : held.lastIndexOf("\n") + 1;
    this.#held = held.slice(end);
    this.#isAtLineStart = this.#held === "";
    if (end === 0) return;
    const rows = behindBar(sanitize(held.slice(0, end)), this.#output.columns);
    await this.#output.text(`${rows.join("\n")}\n`);
  }

  #talk({ text, isError }: Talk): void {
    const shown = this.#isBarred ? behindBar(sanitize(text), this.#output.talkColumns).join("\n") : text;
    if (isError) this.#output.error(shown);
    else this.#output.note(shown);
  }

  async #endLine(): Promise<void> {
    if (!this.#isAtLineStart) await this.#say("\n");
  }

  #notRun(frame: SessionFrame): Talk | undefined {
    if (frame.type !== "agent.tool_result" || frame.is_error !== true) return undefined;
    const reason = this.#decided.notRun(frame.tool_use_id, frame.output);
    return reason === undefined ? undefined : { text: `  ↳ ${notRunText(reason)}` };
  }

  #result(frame: Extract<SessionFrame, { type: "agent.result" }>): void {
    const { subtype, duration_ms, usage, error } = frame;
    if (subtype !== "success") {
      this.#talk({ text: `✗ ${subtype}${error === undefined ? "" : `: ${error.message}`}`, isError: true });
      return;
    }
    const parts = [
      ...(duration_ms === undefined ? [] : [`${(this.#decided.workedMs(duration_ms) / 1000).toFixed(1)} s`]),
      ...(usage === undefined
        ? []
        : [`${usage.input_tokens ?? 0} tokens in, ${usage.output_tokens ?? 0} out`]),
    ];
    this.#output.note(`✓ done${parts.length === 0 ? "" : `: ${parts.join(", ")}`}`);
  }
}

/** How to answer from where it is shown. */
export type Hint = (row: RequestRow) => string;

export function answerInShell({ request_id, payload }: RequestRow): string {
  const verb = payload.questions === undefined ? "accept" : "answer";
  const words = verb === "answer" ? " 1=TEXT" : "";
  return `Answer: blemeesctl ${verb} ${request_id}${words}`;
}

interface Talk {
  text: string;
  isError?: boolean;
}

type Talkers = {
  [T in SessionFrame["type"]]?: (frame: Extract<SessionFrame, { type: T }>) => Talk | undefined;
};

const TALK: Talkers = {
  "agent.tool_use": (frame) => ({ text: `⚙ ${frame.name} ${short(frame.input)}` }),
  "agent.tool_result": (frame) => ({ text: `  ↳ ${frame.is_error ? "failed: " : ""}${short(frame.output)}` }),
  "agent.user_echo": (frame) => ({ text: `> ${short(frame.message.content)}` }),
  "agent.notice": (frame) => {
    if (frame.level === "info" && frame.text === undefined) return undefined;
    return {
      text: `· ${frame.category}: ${frame.text ?? short(frame.data)}`,
      isError: frame.level === "error",
    };
  },
  "blemeesd.stderr": (frame) => ({ text: `· agent: ${frame.line}` }),
  "blemeesd.error": (frame) => ({ text: `✗ ${frame.code}: ${frame.message}`, isError: true }),
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

function talkOf(frame: SessionFrame): Talk | undefined {
  const talk = TALK[frame.type] as ((frame: SessionFrame) => Talk | undefined) | undefined;
  return talk?.(frame);
}

function gapText(since: number, first: number): string {
  return first <= since
    ? "· the daemon has lost this session's history; it starts again"
    : `· events ${since + 1} to ${first - 1} are no longer available`;
}

function textOf(content: readonly { type: string; [key: string]: unknown }[]): string {
  return content.map((block) => (block.type === "text" ? String(block["text"] ?? "") : "")).join("");
}

/** One line of at most 200 characters, whatever the value. */
function short(value: unknown): string {
  if (value === undefined) return "";
  const text = (typeof value === "string" ? value : JSON.stringify(value)).replace(/\s+/g, " ").trim();
  return text.length > MAX_DETAIL ? `${text.slice(0, MAX_DETAIL - 1)}…` : text;
}
