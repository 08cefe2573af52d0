// An event of a session as lines for `sm tail -f`. Pure. What the agent says stands behind a bar and what it does is
// cut to the screen, so that nothing it writes can pass for our own words or for a request.
import { sanitize, sanitizeLine } from "../../base/sanitize.ts";
import { type RequestRow, requestOf, type SessionFrame, type WireFrame } from "../../client/index.ts";
import { behindBar, cutTo } from "../bar.ts";
import type { Style } from "../output.ts";
import { requestLines } from "../request-text.ts";
import { textOf } from "./outcome.ts";
import { hintFor, SM_WORDS } from "./request-words.ts";

export interface Line {
  text: string;
  style?: Style;
}

type Lines = (frame: WireFrame, columns: number) => Line[];

const LINES: Record<string, Lines> = {
  "agent.message": ({ content }, columns) => said(textOf(content), columns),
  "agent.user_echo": ({ message }, columns) => {
    const { content } = (message ?? {}) as { content?: unknown };
    return [one(`> ${typeof content === "string" ? content : textOf(content)}`, columns, "bold")];
  },
  "agent.tool_use": ({ name, input }, columns) => [
    one(`⚙ ${toolText(String(name), input)}`, columns, "cyan"),
  ],
  "agent.tool_result": ({ is_error, output }, columns) => {
    const text = short(output);
    if (!is_error && text === "") return [];
    return [one(`  ↳ ${is_error ? "failed: " : ""}${text}`, columns, is_error ? "red" : "dim")];
  },
  "agent.notice": noticeLines,
  "agent.result": resultLines,
  "blemeesd.stderr": ({ line }, columns) => [one(`· agent: ${String(line)}`, columns, "dim")],
  "blemeesd.error": ({ code, message }, columns) => [
    one(`✗ ${String(code)}: ${String(message)}`, columns, "red"),
  ],
};

export function frameLines(frame: WireFrame, columns: number): Line[] {
  if (!Object.hasOwn(LINES, frame.type)) return [];
  const lines = LINES[frame.type]?.(frame, columns) ?? [];
  // What a sub-agent does is told, further in.
  return frame["parent_tool_use_id"] === undefined
    ? lines
    : lines.map((line) => ({ ...line, text: `  ${line.text}` }));
}

/** What a tool was called with, as briefly as people say it. */
export function toolText(name: string, input: unknown): string {
  const fields = (typeof input === "object" && input !== null ? input : {}) as Record<string, unknown>;
  const key = ["command", "file_path", "path", "pattern", "url", "query", "description", "agent"].find(
    (candidate) => typeof fields[candidate] === "string" || Array.isArray(fields[candidate]),
  );
  const value = key === undefined ? short(input) : [fields[key]].flat().join(" ");
  return value === "" || value === "{}" ? name : `${name}: ${value}`;
}

function noticeLines(frame: WireFrame, columns: number): Line[] {
  const news = requestOf(frame as unknown as SessionFrame);
  if (news?.status === "pending") {
    const row: RequestRow = news;
    return requestLines(row, hintFor(row), columns, SM_WORDS).map((text) => ({
      text,
      style: "yellow" as const,
    }));
  }
  if (news !== undefined) return [one(`· request ${news.request_id}: ${news.status}`, columns, "dim")];
  const { level, category, text, data } = frame;
  if (category === "input_delivered") return [one(`> ${String(text ?? "")}`, columns, "bold")];
  if (level === "info" && text === undefined) return [];
  return [
    one(`· ${String(category)}: ${String(text ?? short(data))}`, columns, level === "error" ? "red" : "dim"),
  ];
}

function resultLines({ subtype, duration_ms, usage, cost_usd, error }: WireFrame, columns: number): Line[] {
  if (subtype !== "success") {
    const why = (error as { message?: unknown } | undefined)?.message;
    return [one(`✗ ${String(subtype)}${why === undefined ? "" : `: ${String(why)}`}`, columns, "red")];
  }
  const tokens = usage as { input_tokens?: number; output_tokens?: number } | undefined;
  const facts = [
    ...(typeof duration_ms === "number" ? [`${(duration_ms / 1000).toFixed(1)} s`] : []),
    ...(tokens === undefined
      ? []
      : [`${tokens.input_tokens ?? 0} tokens in, ${tokens.output_tokens ?? 0} out`]),
    ...(typeof cost_usd === "number" ? [`$${cost_usd.toFixed(2)}`] : []),
  ];
  return [one(`✓ done${facts.length === 0 ? "" : `: ${facts.join(", ")}`}`, columns, "green")];
}

function said(text: string, columns: number): Line[] {
  return text.trim() === "" ? [] : behindBar(sanitize(text), columns).map((row) => ({ text: row }));
}

/** One row of the screen, whatever it is. */
function one(text: string, columns: number, style: Style): Line {
  // A sub-agent's row is moved in by two.
  return { text: cutTo(sanitizeLine(text).trimEnd(), Math.max(20, columns - 4)), style };
}

const MAX_DETAIL = 400;

function short(value: unknown): string {
  if (value === undefined || value === null) return "";
  const text = (typeof value === "string" ? value : JSON.stringify(value)).replace(/\s+/g, " ").trim();
  return text.length > MAX_DETAIL ? `${text.slice(0, MAX_DETAIL - 1)}…` : text;
}
