// Who asks, when it is not the session's own agent: the names of the sub-agents from the root down. Learned from the
// frames that pass. Seen with 2.1.197: a request carries `agent_id`, which is the `task_id` of the sub-agent's
// task_started; whose call started it stands in `parent_tool_use_id` of the frame with that call.
import { isObject, type JsonObject } from "../../base/json.ts";
import { stringOf } from "./state.ts";

/** The tool that starts one, by its new and its old name. */
const STARTERS: ReadonlySet<unknown> = new Set(["Agent", "Task"]);
/** A sub-agent may ask long after it was started; only the newest are remembered. */
const MAX_KNOWN = 500;

interface SubAgent {
  name: string;
  /** The call that started it. */
  call: string | undefined;
}

export class SubAgents {
  readonly #agents = new Map<string, SubAgent>();
  readonly #byCall = new Map<string, SubAgent>();
  /** Call → the call that started the sub-agent which made it. */
  readonly #parents = new Map<string, string>();

  see(frame: JsonObject): void {
    if (frame["type"] === "system" && frame["subtype"] === "task_started") this.#seeStart(frame);
    const parent = stringOf(frame["parent_tool_use_id"]);
    if (frame["type"] === "assistant" && parent !== undefined) this.#seeCalls(frame, parent);
  }

  /** Never empty: an unknown sub-agent goes by its id. */
  pathOf(agent_id: string): string[] {
    const agent = this.#agents.get(agent_id);
    if (agent === undefined) return [agent_id];
    const path = [agent.name];
    const seen = new Set<string>();
    for (let call = agent.call; call !== undefined && !seen.has(call); call = this.#parents.get(call)) {
      seen.add(call);
      const above = this.#byCall.get(this.#parents.get(call) ?? "");
      if (above !== undefined) path.unshift(above.name);
    }
    return path;
  }

  #seeStart(frame: JsonObject): void {
    const id = stringOf(frame["task_id"]);
    if (id === undefined || frame["task_type"] !== "local_agent") return;
    const call = stringOf(frame["tool_use_id"]);
    const words = [stringOf(frame["subagent_type"]), stringOf(frame["description"])].filter(Boolean);
    const agent = { name: words.join(": ") || id, call };
    remember(this.#agents, id, agent);
    if (call !== undefined) remember(this.#byCall, call, agent);
  }

  #seeCalls(frame: JsonObject, parent: string): void {
    const message = isObject(frame["message"]) ? frame["message"] : {};
    const content: unknown[] = Array.isArray(message["content"]) ? message["content"] : [];
    for (const block of content) {
      if (!isObject(block) || !STARTERS.has(block["name"])) continue;
      const id = stringOf(block["id"]);
      if (id !== undefined) remember(this.#parents, id, parent);
    }
  }
}

function remember<V>(map: Map<string, V>, key: string, value: V): void {
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > MAX_KNOWN && oldest !== undefined) map.delete(oldest);
}
