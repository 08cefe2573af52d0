// A tool written as a module (`tools/NAME.mjs`). It runs in demian's process with all of the user's rights, so it is
// loaded only when trusted; its input and output are bounded here.
import { createHash } from "node:crypto";
import * as z from "zod";
import { CodedError, toMessage } from "../../base/coded-error.ts";
import { explainIssues } from "../../base/schema.ts";
import { DECISIONS } from "../permissions/types.ts";
import { removeNulls } from "./define.ts";
import { callModule, type ModuleContext, type ModuleExecute } from "./module-call.ts";
import { loadModule, type ModuleBytes } from "./module-load.ts";
import { TOOL_NAME } from "./registry.ts";
import type { SideEffect, ToolDefinition } from "./types.ts";

const SIDE_EFFECTS = ["none", "workspace", "process", "network", "external"] as const satisfies SideEffect[];
const MAX_DESCRIPTION = 16_384;
const MAX_SCHEMA_BYTES = 65_536;
const MAX_TITLE = 160;
/** For grants; longer inputs are remembered by their hash. */
const MAX_KEY = 1000;

const Exported = z.looseObject({
  name: z.string().regex(TOOL_NAME, "expected a name of a-z, 0-9 and _"),
  description: z.string().min(1).max(MAX_DESCRIPTION),
  inputSchema: z.looseObject({ type: z.literal("object") }),
  execute: z.custom<ModuleExecute>((value) => typeof value === "function", "expected a function"),
  metadata: z
    .looseObject({
      sideEffect: z.enum(SIDE_EFFECTS).optional(),
      defaultDecision: z.enum(DECISIONS).optional(),
    })
    .optional(),
});

/** A tool as its author writes it: in `tools/NAME.mjs`, or for `createTool` of the library. */
export interface ToolModule<Input = unknown> {
  /** a-z, 0-9 and _ */
  name: string;
  description: string;
  /** JSON Schema of an object. It is sent to the model, and each input is checked against it. */
  inputSchema: { type: "object"; [key: string]: unknown };
  metadata?: {
    /** What it touches besides its answer; default: "external". */
    sideEffect?: SideEffect;
    /** A tool may refuse itself; only the user can allow it. */
    defaultDecision?: "ask" | "deny";
  };
  /** Returns a text, or `{ ok, content }`. May be async; what it throws is reported to the model. */
  execute(input: Input, context: ModuleContext): unknown;
}

/** Runs the module's code. Rejects with the reason; ignored fields are added to `warnings`. */
export async function loadToolModule(module: ModuleBytes, warnings: string[]): Promise<ToolDefinition> {
  const exported = await loadModule(module);
  if (typeof exported !== "object" || exported === null)
    throw new Error("it has no default export: `export default { name, description, inputSchema, execute }`");
  // A grant holds for one version of the code.
  return toDefinition(exported, module.sha256.slice(0, 16), (why) => warnings.push(`${module.path}: ${why}`));
}

/** For a program that embeds the runtime. Calls are asked about, like those of any tool. Throws if it is not a tool. */
export function createTool<Input>(tool: ToolModule<Input>): ToolDefinition {
  return toDefinition(tool, "embedded", (why) => {
    throw new CodedError("bad_tool", why);
  });
}

function toDefinition(exported: object, version: string, warn: (why: string) => void): ToolDefinition {
  const checked = Exported.safeParse(exported);
  if (!checked.success)
    throw new CodedError("bad_tool", `not a tool: ${explainIssues(checked.error.issues)}`);
  const { name, description, metadata = {} } = checked.data;
  // The user's rules decide whether it may run, not the tool.
  if (metadata.defaultDecision === "allow")
    warn(
      `"defaultDecision" is ignored: a tool may not allow itself. To allow it, add { "tool": "${name}", "decision": "allow" } to \`permissions\` in your configuration`,
    );
  const inputSchema = copySchema(checked.data.inputSchema);
  const schema = createChecker(inputSchema);
  const execute: ModuleExecute = (input, context) => checked.data.execute.call(exported, input, context);
  return {
    name,
    description,
    inputSchema,
    metadata: {
      sideEffect: metadata.sideEffect ?? "external",
      defaultDecision: metadata.defaultDecision === "deny" ? "deny" : "ask",
    },
    check: (input) => {
      const whole = schema.safeParse(input);
      const parsed = whole.success ? whole : schema.safeParse(removeNulls(input));
      if (parsed.success) return { ok: true, value: parsed.data };
      return { ok: false, message: explainIssues(parsed.error.issues) };
    },
    plan: async (input) => {
      const text = toStableJson(input);
      const title = `${name}: ${text.length > MAX_TITLE ? `${text.slice(0, MAX_TITLE)}…` : text}`;
      return { title, targets: [{ kind: "other", key: `${version} ${toGrantKey(text)}` }] };
    },
    execute: (input, _plan, context) => callModule(name, execute, input, context),
  };
}

/** A copy, so that models get exactly what was checked. */
function copySchema(schema: unknown): Record<string, unknown> {
  let text: string;
  try {
    text = JSON.stringify(schema);
  } catch (cause) {
    throw new Error(`its inputSchema is not JSON: ${toMessage(cause)}`, { cause });
  }
  if (text.length > MAX_SCHEMA_BYTES)
    throw new Error(`its inputSchema is larger than ${MAX_SCHEMA_BYTES / 1024} KiB`);
  const { $schema: _, ...plain } = JSON.parse(text) as Record<string, unknown>;
  return plain;
}

/** Reject a schema that cannot be compiled. */
function createChecker(schema: Record<string, unknown>): z.ZodType {
  try {
    return z.fromJSONSchema(schema);
  } catch (cause) {
    throw new Error(`its inputSchema is not a valid JSON Schema: ${toMessage(cause)}`, { cause });
  }
}

/** The same key for the same input, whatever the order of its fields. */
function toStableJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) => {
    if (typeof inner !== "object" || inner === null || Array.isArray(inner)) return inner;
    return Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}

function toGrantKey(text: string): string {
  return text.length <= MAX_KEY ? text : `sha256:${createHash("sha256").update(text).digest("hex")}`;
}
