// Lists the tools for a model, and carries out a call of one. Never throws: a call that failed is a result.
import * as z from "zod";
import type { ToolCall, ToolOutcome, ToolSpec } from "../../backends/types.ts";
import { CodedError, toMessage } from "../../base/coded-error.ts";
import type { JsonObject } from "../../base/json.ts";
import { explainIssues } from "../../base/schema.ts";
import { TOOLS } from "./table.ts";
import type { ToolContext } from "./types.ts";

/** For an agent that was not given the tools, such as one whose conversation began as a manager's. */
export const NO_MANAGER: ToolOutcome = {
  text: "not_allowed: this session was spawned without --manager",
  isError: true,
};
const MAX_CHARS = 24_000;

export function listTools(): ToolSpec[] {
  return TOOLS.map(({ name, description, input }) => ({
    name,
    description,
    inputSchema: toJsonSchema(input),
  }));
}

export async function callTool(
  { name, input }: Pick<ToolCall, "name" | "input">,
  context: ToolContext,
): Promise<ToolOutcome> {
  const tool = TOOLS.find((one) => one.name === name);
  if (tool === undefined)
    return fail(`unknown tool ${name}; known: ${TOOLS.map((one) => one.name).join(", ")}`);
  const checked = tool.input.safeParse(input);
  if (!checked.success) return fail(explainIssues(checked.error.issues, ""));
  try {
    return { text: cut(JSON.stringify(await tool.run(checked.data, context))) };
  } catch (error) {
    if (error instanceof CodedError) return fail(`${error.code}: ${error.message}`);
    return fail(`internal: ${toMessage(error)}`);
  }
}

function fail(text: string): ToolOutcome {
  return { text: cut(text), isError: true };
}

function cut(text: string): string {
  if (text.length <= MAX_CHARS) return text;
  return `${text.slice(0, MAX_CHARS)} … (${text.length - MAX_CHARS} more characters; ask for less)`;
}

/** Without what no model needs. */
function toJsonSchema(input: z.ZodType): JsonObject {
  const { $schema: _schema, ...schema } = z.toJSONSchema(input, { io: "input" });
  return dropLimits(schema) as JsonObject;
}

const OMITTED: ReadonlySet<string> = new Set([
  ...["minLength", "maxLength", "minItems", "maxItems", "minimum", "maximum", "pattern", "propertyNames"],
]);

/** They are still checked. */
function dropLimits(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(dropLimits);
  if (typeof value !== "object" || value === null) return value;
  const kept = Object.entries(value).filter(
    ([key, inner]) => !OMITTED.has(key) && !(key === "additionalProperties" && inner === false),
  );
  return Object.fromEntries(kept.map(([key, inner]) => [key, dropLimits(inner)]));
}
