// A sub-agent that thinks with another provider than the main agent, and the call that gives it a task.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { chatReply, type Reply } from "../../support/model-server.ts";

export const TASK = "Run the test and say what it says.";

/** Into what `configure` wrote: the agent `reviewer` with the provider `elsewhere`. */
export function addReviewer(home: string, url: string): void {
  const path = join(home, ".demian/config.json");
  const config = JSON.parse(readFileSync(path, "utf8")) as { providers: { local: object } };
  const providers = {
    ...config.providers,
    elsewhere: { ...config.providers.local, model: "other-model", baseURL: `${url}/v1` },
  };
  const reviewer = {
    description: "Runs tests.",
    mode: "subagent",
    prompt: { system: "You review." },
    provider: { profile: "elsewhere" },
    tools: { visible: ["read_file", "bash"] },
    permissions: [],
  };
  writeFileSync(path, JSON.stringify({ ...config, providers, agents: { reviewer } }));
}

export function delegation(): Reply {
  return chatReply("", [{ name: "delegate_agent", input: { agent: "reviewer", task: TASK } }]);
}
