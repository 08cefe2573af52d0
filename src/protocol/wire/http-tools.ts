// Bodies of the routes for tools.
import * as z from "zod";

export const ToolsReply = z.strictObject({
  tools: z.array(
    z.strictObject({
      name: z.string(),
      /** For a model. */
      description: z.string(),
      /** JSON Schema of the input. */
      inputSchema: z.record(z.string(), z.unknown()),
    }),
  ),
});
export type ToolsReply = z.infer<typeof ToolsReply>;

export const ToolReply = z.strictObject({
  /** JSON, or the reason why the call failed. */
  text: z.string(),
  isError: z.literal(true).optional(),
});
export type ToolReply = z.infer<typeof ToolReply>;

/** A message of the Model Context Protocol. */
export const McpMessage = z.record(z.string(), z.unknown());
