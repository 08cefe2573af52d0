// How a tool call looks to an ACP client: its kind, its title, where it happens, what it changes.
import { createHash } from "node:crypto";
import { resolve } from "node:path";
import type { SessionUpdate, ToolCallContent, ToolCallLocation, ToolKind } from "@agentclientprotocol/sdk";
import { excerpt } from "../../base/excerpt.ts";
import { isObject } from "../../base/json.ts";
import type { ToolRegistry } from "../tools/registry.ts";
import type { SideEffect } from "../tools/types.ts";
import type { FileChange } from "../workspace/types.ts";

/** A client closes the connection when one message is too large (the SDK: 32 MiB); so no part of ours may be. */
const MAX_DIFF_CHARS = 1_000_000;
export const MAX_TEXT_CHARS = 200_000;
const MAX_TITLE_CHARS = 200;

const KINDS: Readonly<Record<string, ToolKind>> = {
  read_file: "read",
  write_file: "edit",
  edit_file: "edit",
  grep: "search",
  glob: "search",
  bash: "execute",
};
/** The field of the input that names the call best. */
const TELLING = ["command", "path", "pattern", "agent"] as const;

/** What tools of other programs do is known by what they touch. */
const KINDS_BY_EFFECT: Readonly<Record<SideEffect, ToolKind>> = {
  none: "other",
  workspace: "edit",
  process: "execute",
  network: "fetch",
  external: "other",
};

/** The first word of a call, before the tool itself has said what it will do. */
export function newCall(
  toolCallId: string,
  { name, input }: { name: string; input: unknown },
  { cwd, tools }: { cwd: string; tools: ToolRegistry },
): SessionUpdate {
  return {
    sessionUpdate: "tool_call",
    toolCallId,
    name,
    title: titleOf(name, input),
    kind: kindOf(tools, name),
    status: "pending",
    rawInput: shownInput(input),
    locations: locationsOf(cwd, input),
  };
}

export function kindOf(tools: ToolRegistry, name: string): ToolKind {
  return KINDS[name] ?? KINDS_BY_EFFECT[tools.get(name)?.metadata.sideEffect ?? "none"];
}

function titleOf(tool: string, input: unknown): string {
  const telling = isObject(input)
    ? TELLING.map((key) => input[key]).find((value) => typeof value === "string")
    : undefined;
  return oneLine(typeof telling === "string" ? `${tool}: ${telling}` : tool);
}

export function oneLine(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length <= MAX_TITLE_CHARS
    ? line
    : `${line.slice(0, MAX_TITLE_CHARS - 1).replace(/[\ud800-\udbff]$/, "")}…`;
}

export function locationsOf(
  cwd: string,
  input: unknown,
  changes: readonly FileChange[] = [],
): ToolCallLocation[] {
  if (changes.length > 0) return changes.map(({ path }) => ({ path: resolve(cwd, path) }));
  if (!isObject(input) || typeof input["path"] !== "string") return [];
  const line = input["offset"];
  return [
    {
      path: resolve(cwd, input["path"]),
      ...(typeof line === "number" && Number.isInteger(line) && line > 0 ? { line } : {}),
    },
  ];
}

export function diffsOf(cwd: string, changes: readonly FileChange[] = []): ToolCallContent[] {
  return changes.map(({ path, oldText, newText }) => {
    const chars = (oldText?.length ?? 0) + newText.length;
    if (chars > MAX_DIFF_CHARS)
      return textContent(`${path}: a change of ${chars} characters, too large to show`);
    return { type: "diff", path: resolve(cwd, path), oldText: oldText ?? null, newText };
  });
}

export function textContent(text: string): ToolCallContent {
  return { type: "content", content: { type: "text", text: excerpt(text, MAX_TEXT_CHARS) } };
}

/**
 * The input as it is, but for texts that would burst a message: these end with their digest, so that a client which
 * remembers what was allowed by what it saw never takes another text for the same.
 */
export function shownInput(input: unknown): unknown {
  if (typeof input === "string") return shownText(input);
  if (Array.isArray(input)) return input.map(shownInput);
  if (!isObject(input)) return input;
  return Object.fromEntries(Object.entries(input).map(([key, value]) => [key, shownInput(value)]));
}

function shownText(text: string): string {
  if (text.length <= MAX_TEXT_CHARS) return text;
  const digest = createHash("sha256").update(text).digest("hex");
  return `${excerpt(text, MAX_TEXT_CHARS)} [sha256 of all: ${digest}]`;
}
