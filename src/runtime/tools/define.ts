// Builds a tool from a zod schema, which describes the input to the model and checks it.
import * as z from "zod";
import { explainIssues } from "../../base/schema.ts";
import type { ToolContext, ToolDefinition, ToolMetadata, ToolPlan, ToolResult } from "./types.ts";

export interface ToolOrder<S extends z.ZodType> {
  name: string;
  description: string;
  input: S;
  metadata: ToolMetadata;
  plan(value: z.output<S>, context: ToolContext): Promise<ToolPlan>;
  execute(value: z.output<S>, plan: ToolPlan, context: ToolContext): Promise<ToolResult>;
}

export function defineTool<S extends z.ZodType>(order: ToolOrder<S>): ToolDefinition {
  const { name, description, input, metadata } = order;
  const { $schema: _, ...inputSchema } = z.toJSONSchema(input, { io: "input" });
  return {
    name,
    description,
    inputSchema,
    metadata,
    check: (value) => {
      const parsed = input.safeParse(removeNulls(value));
      if (parsed.success) return { ok: true, value: parsed.data };
      return { ok: false, message: explainIssues(parsed.error.issues) };
    },
    // The loop passes the value that `check` returned.
    plan: (value, context) => order.plan(value as z.output<S>, context),
    execute: (value, plan, context) => order.execute(value as z.output<S>, plan, context),
  };
}

/** Models that must send every field send null for omitted ones. */
export function removeNulls(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== null));
}
