// A main agent and a writer on another provider, for tests at a terminal.
import { chatReply, type ModelServer, type Reply } from "../../support/model-server.ts";

/** The part of the configuration that several agents need beside the main one. */
export function teamOf(other: ModelServer): { providers: object } & Record<string, unknown> {
  return {
    agentMode: "multi-agent",
    providers: {
      elsewhere: {
        type: "openai-compatible",
        baseURL: other.url,
        apiKey: "k2",
        model: "tiny",
        maxRetries: 0,
      },
    },
    agents: {
      writer: {
        description: "Writes small files.",
        mode: "subagent",
        provider: { profile: "elsewhere" },
        prompt: { system: "You write." },
        tools: { visible: ["read_file", "write_file"] },
        permissions: [{ tool: "read_file", decision: "allow" }],
        catalog: { category: "builder", cost: "cheap" },
      },
      reader: {
        description: "Reads, and nothing else.",
        mode: "subagent",
        prompt: { system: "You read." },
        tools: { visible: ["read_file"] },
        permissions: [],
        hidden: true,
      },
    },
  };
}

export function delegate(task: string): Reply {
  return chatReply("Let me ask.", [{ name: "delegate_agent", input: { agent: "writer", task } }]);
}

export function write(path: string, content: string): Reply {
  return chatReply("", [{ name: "write_file", input: { path, content } }]);
}
