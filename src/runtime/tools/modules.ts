// A tool that somebody wrote as a module (`tools/NAME.mjs`). Its code runs in demian's own process with all of the user's
// rights, which is why it is loaded only when it is trusted; what it is given, and what is taken from it, is bounded here.
import { createHash } from "node:crypto";
import * as z from "zod";
import { messageOf } from "../../base/coded-error.ts";
import { explainIssues } from "../../base/schema.ts";
import { DECISIONS } from "../permissions/types.ts";
import { withoutNulls } from "./define.ts";
import { callModule, type ModuleExecute } from "./module-call.ts";
import { loadModule, type ModuleBytes } from "./module-load.ts";
import { TOOL_NAME } from "./registry.ts";
import type { SideEffect, ToolDefinition } from "./types.ts";

const SIDE_EFFECTS = ["none", "workspace", "process", "network", "external"] as const satisfies SideEffect[];
const MAX_DESCRIPTION = 16_384;
const MAX_SCHEMA_BYTES = 65_536;
const MAX_TITLE = 160;
/** Of what a grant remembers; longer inputs are remembered by their hash. */
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

/** Runs the module's code. Rejects with what is wrong; `warnings` gets what is ignored. */
export async function loadToolModule(module: ModuleBytes, warnings: string[]): Promise<ToolDefinition> {
  const exported = await loadModule(module);
  if (typeof exported !== "object" || exported === null)
    throw new Error("it has no default export: `export default { name, description, inputSchema, execute }`");
  const checked = Exported.safeParse(exported);
  if (!checked.success)
    throw new Error(`its default export is no tool: ${explainIssues(checked.error.issues)}`);
  const { name, description, metadata = {} } = checked.data;
  // Whether it may run is for the user's rules to say, not for the tool.
  if (metadata.defaultDecision === "allow")
    warnings.push(
      `${module.path}: "defaultDecision" is ignored: a tool may not allow itself. If you want it, put { "tool": "${name}", "decision": "allow" } into \`permissions\` of your configuration`,
    );
  const inputSchema = plainSchema(checked.data.inputSchema);
  const schema = checkerOf(inputSchema);
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
      const parsed = whole.success ? whole : schema.safeParse(withoutNulls(input));
      if (parsed.success) return { ok: true, value: parsed.data };
      return { ok: false, message: explainIssues(parsed.error.issues) };
    },
    plan: async (input) => {
      const text = stableJson(input);
      const title = `${name}: ${text.length > MAX_TITLE ? `${text.slice(0, MAX_TITLE)}…` : text}`;
      // What was allowed for one version of the code is not allowed for another.
      return { title, targets: [{ kind: "other", key: `${module.sha256.slice(0, 16)} ${keyOf(text)}` }] };
    },
    execute: (input, _plan, context) => callModule(name, execute, input, context),
  };
}

/** A copy, so that what was checked is what models are told. */
function plainSchema(schema: unknown): Record<string, unknown> {
  let text: string;
  try {
    text = JSON.stringify(schema);
  } catch (cause) {
    throw new Error(`its inputSchema is no JSON: ${messageOf(cause)}`, { cause });
  }
  if (text.length > MAX_SCHEMA_BYTES)
    throw new Error(`its inputSchema is longer than ${MAX_SCHEMA_BYTES / 1024} KiB`);
  const { $schema: _, ...plain } = JSON.parse(text) as Record<string, unknown>;
  return plain;
}

/** A schema that cannot be checked is no schema. */
function checkerOf(schema: Record<string, unknown>): z.ZodType {
  try {
    return z.fromJSONSchema(schema);
  } catch (cause) {
    throw new Error(`its inputSchema cannot be checked: ${messageOf(cause)}`, { cause });
  }
}

/** The same for the same input, whatever the order of its keys. */
function stableJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) => {
    if (typeof inner !== "object" || inner === null || Array.isArray(inner)) return inner;
    return Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}

function keyOf(text: string): string {
  return text.length <= MAX_KEY ? text : `sha256:${createHash("sha256").update(text).digest("hex")}`;
}
