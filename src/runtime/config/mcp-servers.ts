// The configuration of MCP servers, in the shape that other agents use in `.mcp.json`.
import * as z from "zod";

const text = z.string().regex(/^[^\0]*$/, "it contains a NUL character");
const common = {
  enabled: z.boolean().optional().describe("`false`: do not connect to it."),
  tools: z
    .array(z.string().min(1))
    .optional()
    .describe("Only these of its tools, by the server's names. Default: all."),
  timeoutMs: z
    .int()
    .min(1000)
    .max(3_600_000)
    .optional()
    .describe("How long one of its tools may take, in ms. Progress reports extend it. Default: one minute."),
  connectTimeoutMs: z
    .int()
    .min(100)
    .max(120_000)
    .optional()
    .describe("How long it may take to start and list its tools, in ms. Default: ten seconds."),
};

const Stdio = z.strictObject({
  type: z.literal("stdio").optional(),
  ...common,
  command: text.min(1).describe("The program, which speaks MCP on stdin and stdout."),
  args: z.array(text).optional().describe("Its arguments."),
  env: z
    .record(z.string().regex(/^[A-Za-z_]\w*$/, "expected the name of a variable"), text)
    .optional()
    .describe("More environment variables. It gets those that commands get, and no keys of models."),
  cwd: text.min(1).optional().describe("Its working directory. Default: the workspace."),
});

const Http = z.strictObject({
  type: z.literal("http").optional(),
  ...common,
  url: z.string().min(1).describe("The URL of a server with the Streamable HTTP transport."),
  headers: z
    .record(z.string().regex(/^[A-Za-z0-9-]+$/), z.string())
    .optional()
    .describe("Headers for every request, such as `Authorization`."),
});

export const McpServerConfig = z.union([Stdio, Http]);
export type McpServerConfig = z.infer<typeof McpServerConfig>;

export const McpServers = z.record(
  z.string().regex(/^[A-Za-z][A-Za-z0-9_-]{0,31}$/, "expected a name of up to 32 letters, digits, _ and -"),
  McpServerConfig,
);
