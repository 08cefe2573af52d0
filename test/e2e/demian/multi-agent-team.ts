// A sub-agent with another provider than the main agent, and the call that gives it a task.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { chatReply, type ModelServer, type Reply, startModelServer } from "../../support/model-server.ts";
import { untilGone } from "../processes.ts";
import { createWorld, type World } from "../world.ts";
import { configure, writeRepository } from "./repository.ts";

export const TASK = "Run the test and say what it says.";

/** A daemon with demian in multi-agent mode, and two models. */
export interface Team {
  /** The main agent's model. */
  world: World<ModelServer>;
  /** The sub-agent's model. */
  other: ModelServer;
  /** Resolves when none of its processes are left. */
  close(): Promise<void>;
}

export async function createTeam(): Promise<Team> {
  const model = await startModelServer();
  const other = await startModelServer();
  const world = await createWorld({
    backend: "demian",
    model,
    furnish: (_home, cwd) => ({ env: {}, options: { cwd, agent_mode: "multi-agent" } }),
  });
  writeRepository(world.cwd);
  await configure(world.home, model.url);
  addReviewer(world.home, other.url);
  const close = async () => {
    const mark = `HOME=${world.home}`;
    await world.close();
    await other.close();
    await untilGone(mark);
  };
  return { world, other, close };
}

/** Adds to the configuration of `configure`: the agent `reviewer` with the provider `elsewhere`. */
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
