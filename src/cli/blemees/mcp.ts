// `blemees mcp`: the tools for managing agents, for programs that speak the Model Context Protocol.
import { toMessage } from "../../base/coded-error.ts";
import type { BlemeesCommand } from "./command.ts";

export const MCP: BlemeesCommand = {
  name: "mcp",
  usage: "mcp",
  summary: "let a program manage agents with tools, over MCP on stdin and stdout",
  words: [0, 0],
  flags: [],
  examples: ["mcp"],
  notes: [
    "Add it to the program's list of MCP servers: command `blemees`, argument `mcp`. It may do what you may; below an agent, what",
    "that agent may. Managers that `sm spawn --manager` started have these tools without it.",
  ],
  async run(_given, context) {
    const http = await context.connect({ isPatient: true });
    const { serveTools } = await import("../../base/mcp-server.ts");
    await serveTools(
      {
        version: context.version,
        list: async () => (await http.tools()).tools,
        call: (name, input, signal) =>
          http
            .callTool(name, input as object, signal)
            .catch((error: unknown) => ({ text: toMessage(error), isError: true as const })),
      },
      { input: process.stdin, output: process.stdout, signal: context.signal },
    );
    return 0;
  },
};
