// The path of a sub-agent that sends a request: names from the root down, learned from earlier frames. In 2.1.197 a
// request has an `agent_id`, which is the `task_id` of the sub-agent's task_started; the frame with the call that started
// it has the call of its parent as `parent_tool_use_id`.

import type { JsonObject } from "../../base/json.ts";
import { asObject, asObjects, asString } from "../../base/values.ts";

/** The tool that starts a sub-agent: its new and its old name. */
const STARTERS: ReadonlySet<unknown> = new Set(["Agent", "Task"]);
/** Older sub-agents are forgotten. */
const MAX_KNOWN = 500;

interface SubAgent {
  name: string;
  /** The call that started it. */
  call: string | undefined;
}

/** What is known about sub-agents. Plain data. */
export interface SubAgentsState {
  readonly agents: Map<string, SubAgent>;
  readonly byCall: Map<string, SubAgent>;
  /** Call → the call that started the sub-agent that made it. */
  readonly parents: Map<string, string>;
}

export class SubAgents {
  readonly state: SubAgentsState;

  constructor(state: SubAgentsState = { agents: new Map(), byCall: new Map(), parents: new Map() }) {
    this.state = state;
  }

  see(frame: JsonObject): void {
    if (frame["type"] === "system" && frame["subtype"] === "task_started") this.#seeStart(frame);
    const parent = asString(frame["parent_tool_use_id"]);
    if (frame["type"] === "assistant" && parent !== undefined) this.#seeCalls(frame, parent);
  }

  /** Never empty: an unknown sub-agent is named by its id. */
  findPath(agent_id: string): string[] {
    const { agents, byCall, parents } = this.state;
    const agent = agents.get(agent_id);
    if (agent === undefined) return [agent_id];
    const path = [agent.name];
    const seen = new Set<string>();
    for (let call = agent.call; call !== undefined && !seen.has(call); call = parents.get(call)) {
      seen.add(call);
      const above = byCall.get(parents.get(call) ?? "");
      if (above !== undefined) path.unshift(above.name);
    }
    return path;
  }

  #seeStart(frame: JsonObject): void {
    const id = asString(frame["task_id"]);
    if (id === undefined || frame["task_type"] !== "local_agent") return;
    const call = asString(frame["tool_use_id"]);
    const parts = [asString(frame["subagent_type"]), asString(frame["description"])].filter(Boolean);
    const agent = { name: parts.join(": ") || id, call };
    remember(this.state.agents, id, agent);
    if (call !== undefined) remember(this.state.byCall, call, agent);
  }

  #seeCalls(frame: JsonObject, parent: string): void {
    for (const block of asObjects(asObject(frame["message"])["content"])) {
      if (!STARTERS.has(block["name"])) continue;
      const id = asString(block["id"]);
      if (id !== undefined) remember(this.state.parents, id, parent);
    }
  }
}

function remember<V>(map: Map<string, V>, key: string, value: V): void {
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > MAX_KNOWN && oldest !== undefined) map.delete(oldest);
}
