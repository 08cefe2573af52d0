// Bounds and sanitizes what a server offers before anything else sees it: a server may be written by anybody, and what it
// says goes to the model with every request. Everything left out is reported.

import { isObject } from "../../base/json.ts";
import { sanitize, sanitizeLine } from "../../base/sanitize.ts";
import { joinNames } from "../config/fewer.ts";
import type { McpOffer, McpPrompt, McpResource, McpTool } from "./types.ts";

const MAX_TOOLS = 100;
const MAX_PROMPTS = 50;
export const MAX_RESOURCES = 200;
const MAX_NAME = 128;
const MAX_URI = 1000;
const MAX_DESCRIPTION = 1000;
const MAX_SCHEMA_CHARS = 8192;
const MAX_SCHEMA_DEPTH = 16;
const MAX_INSTRUCTIONS = 2000;
const MAX_PROMPT_DESCRIPTION = 120;
const MAX_ARGUMENTS = 10;

interface RawTool {
  name: string;
  title?: string | undefined;
  description?: string | undefined;
  inputSchema: unknown;
}

interface RawPrompt {
  name: string;
  title?: string | undefined;
  description?: string | undefined;
  arguments?: readonly { name: string; required?: boolean | undefined }[] | undefined;
}

export interface RawOffer {
  tools: readonly RawTool[];
  prompts: readonly RawPrompt[];
  resources: readonly { uri: string; name: string }[];
  instructions: string | undefined;
  /** A list had more pages than were read. */
  hasMore: boolean;
}

/** `wanted`: the tools that the user chose. */
export function limitOffer(raw: RawOffer, wanted: readonly string[] | undefined): McpOffer {
  const problems: string[] = [];
  const { instructions = "" } = raw;
  const offer = {
    tools: limitTools(raw, wanted, problems),
    prompts: raw.prompts.slice(0, MAX_PROMPTS).flatMap(limitPrompt),
    resources: raw.resources.slice(0, MAX_RESOURCES).flatMap(limitResource),
    instructions: cut(sanitize(instructions).trim(), MAX_INSTRUCTIONS),
    problems,
  };
  for (const [what, all, kept] of [
    ["prompts", raw.prompts, offer.prompts],
    ["resources", raw.resources, offer.resources],
  ] as const)
    if (kept.length < all.length)
      problems.push(`${kept.length} of ${all.length} ${what} are used; the others are too many or too long`);
  if (instructions.length > MAX_INSTRUCTIONS)
    problems.push(`its instructions are cut to ${MAX_INSTRUCTIONS} characters`);
  return offer;
}

function limitTools(raw: RawOffer, wanted: readonly string[] | undefined, problems: string[]): McpTool[] {
  const all = raw.tools.map(({ name }) => name);
  const missing = (wanted ?? []).filter((name) => !all.includes(name));
  if (missing.length > 0) problems.push(`it has no tool ${joinNames(missing.map(sanitizeLine))} ("tools")`);
  // Sorted, so that the same tools are the same text in every session, whatever order the server has.
  const chosen = raw.tools
    .filter(({ name }) => wanted?.includes(name) ?? true)
    .sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
  if (chosen.length > MAX_TOOLS)
    problems.push(
      `it offers ${raw.hasMore ? "more than " : ""}${chosen.length} tools; the first ${MAX_TOOLS} by name are used. Choose others with "tools" in its configuration`,
    );
  const tools: McpTool[] = [];
  const refused: string[] = [];
  for (const tool of chosen.slice(0, MAX_TOOLS)) {
    const inputSchema = limitSchema(tool.inputSchema);
    const isNamed = tool.name !== "" && tool.name.length <= MAX_NAME;
    const isNew = tools.every(({ name }) => name !== tool.name);
    if (inputSchema === undefined || !isNamed || !isNew) refused.push(sanitizeLine(tool.name).slice(0, 64));
    else tools.push({ name: tool.name, description: describe(tool, MAX_DESCRIPTION), inputSchema });
  }
  if (refused.length > 0)
    problems.push(
      `tools left out, because their input schema is too large or their name is empty, too long or taken: ${joinNames(refused)}`,
    );
  return tools;
}

function limitPrompt(prompt: RawPrompt): McpPrompt[] {
  const { name, arguments: given = [] } = prompt;
  // It is typed by a user, so it must be a word.
  if (!/^[\w.-]{1,64}$/.test(name) || given.length > MAX_ARGUMENTS) return [];
  const names = given.map((one) => ({ name: one.name, required: one.required === true }));
  if (names.some((one) => one.name === "" || one.name.length > MAX_NAME)) return [];
  return [{ name, description: sanitizeLine(describe(prompt, MAX_PROMPT_DESCRIPTION)), arguments: names }];
}

function limitResource({ uri, name }: { uri: string; name: string }): McpResource[] {
  // It is written in a message, so it has no spaces.
  if (uri.length > MAX_URI || !/^[!-~]+$/.test(uri)) return [];
  return [{ uri, name: cut(sanitizeLine(name), MAX_NAME) }];
}

function describe({ title, description }: Pick<RawTool, "title" | "description">, most: number): string {
  return cut(sanitize(description ?? title ?? "").trim(), most);
}

/** Undefined: too large, too deep, or not the schema of an object. */
function limitSchema(schema: unknown): Record<string, unknown> | undefined {
  if (!isObject(schema) || isDeeper(schema, MAX_SCHEMA_DEPTH)) return undefined;
  const { $schema: _, ...plain } = cleanSchema(schema) as Record<string, unknown>;
  return JSON.stringify(plain).length > MAX_SCHEMA_CHARS ? undefined : { ...plain, type: "object" };
}

function isDeeper(value: unknown, most: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return most === 0 || Object.values(value).some((inner) => isDeeper(inner, most - 1));
}

function cleanSchema(value: unknown): unknown {
  if (typeof value === "string") return cut(sanitize(value), MAX_DESCRIPTION);
  if (Array.isArray(value)) return value.map(cleanSchema);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [sanitizeLine(key), cleanSchema(inner)]),
  );
}

function cut(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 1).replace(/[\ud800-\udbff]$/, "")}…`;
}
