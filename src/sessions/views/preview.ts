// A one-line, bounded preview of a frame for event lists. Pure; never throws, whatever an agent sent.
import { sanitizeLine } from "../../base/sanitize.ts";

const MAX_CHARS = 200;
/** Enough text for one line; the rest is not read. */
const MAX_LOOKED_AT = 1_000;

type Frame = Readonly<Record<string, unknown>>;

const PREVIEWS: Readonly<Record<string, (frame: Frame) => string>> = {
  "agent.system_init": (frame) => join(str(frame["model"]), str(frame["cwd"])),
  "agent.delta": (frame) => str(frame["text"]) || str(frame["partial_json"]),
  "agent.message": (frame) => contentText(frame["content"]),
  "agent.user_echo": (frame) => contentText(record(frame["message"])["content"]),
  "agent.tool_use": (frame) => join(str(frame["name"]), inputText(frame["input"])),
  "agent.tool_result": (frame) =>
    join(frame["is_error"] === true ? "error:" : "", outputText(frame["output"])),
  "agent.notice": (frame) => join(`${str(frame["category"])}:`, str(frame["text"])).replace(/:$/, ""),
  "agent.result": (frame) => join(str(frame["subtype"]), str(record(frame["error"])["message"])),
  "blemeesd.error": (frame) => join(`${str(frame["code"])}:`, str(frame["message"])),
  "blemeesd.stderr": (frame) => str(frame["line"]),
};

export function previewFrame(frame: Frame): string {
  const type = str(frame["type"]);
  const text = Object.hasOwn(PREVIEWS, type) ? (PREVIEWS[type]?.(frame) ?? "") : "";
  const line = sanitizeLine(text.slice(0, MAX_LOOKED_AT)).replace(/ {2,}/g, " ").trim();
  if (line.length <= MAX_CHARS) return line;
  // Never splits a surrogate pair.
  return `${line.slice(0, MAX_CHARS - 1).replace(/[\ud800-\udbff]$/, "")}…`;
}

/** A tool's input, by its most telling field. */
const TELLING = ["command", "cmd", "file_path", "path", "pattern", "query", "url", "description", "prompt"];

function inputText(input: unknown): string {
  if (typeof input === "string") return input;
  const fields = record(input);
  for (const name of TELLING) {
    const value = fields[name];
    if (typeof value === "string" && value !== "") return value;
    if (Array.isArray(value)) return value.map(str).join(" ");
  }
  return Object.keys(fields).length === 0 ? "" : json(input);
}

function outputText(output: unknown): string {
  if (typeof output === "string") return output;
  const text = contentText(output);
  return text !== "" || output === undefined ? text : json(output);
}

/** The text of a message's content; other blocks by their type. */
function contentText(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content
    .map((block: unknown) => {
      const { type, text, thinking } = record(block);
      return str(text) || str(thinking) || (type === undefined ? "" : `[${str(type)}]`);
    })
    .join(" ");
}

function join(...parts: string[]): string {
  return parts.filter((part) => part !== "").join(" ");
}

function str(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function record(value: unknown): Frame {
  return typeof value === "object" && value !== null ? (value as Frame) : {};
}

function json(value: unknown): string {
  try {
    return JSON.stringify(value) ?? "";
  } catch {
    return ""; // nested too deep to serialize
  }
}
