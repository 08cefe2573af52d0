// Valid frames that the fuzzer breaks: at least one of every inbound type of both dialects, and opens that use
// every option of the Claude backend.
import type { JsonObject } from "../../src/base/json.ts";
import type { Random } from "../store/random.ts";

export type Protocol = "blemees/2" | "blemees/1";

/** Created each time: the mutations work in place. */
const CLAUDE_BLOCKS: (() => JsonObject)[] = [
  () => ({ model: "opus", cwd: "/tmp", permission_mode: "plan", include_partial_messages: true }),
  () => ({ system_prompt: "Be kind.", append_system_prompt: "-v is not a flag here", session_name: "name" }),
  () => ({ tools: "", disallowed_tools: ["Bash", "Write"], add_dir: ["/srv", "/opt"], betas: ["a"] }),
  () => ({ agents: { helper: { prompt: "p" } }, json_schema: '{"type":"object"}', mcp_config: ["{}"] }),
  () => ({ effort: "high", agent: "a", settings: "{}", setting_sources: "user", fallback_model: "haiku" }),
  () => ({ plugin_dir: ["/p"], strict_mcp_config: true, max_budget_usd: 1.5, session_persistence: false }),
  () => ({ user_echo: true, include_raw_events: true, exclude_dynamic_system_prompt_sections: true }),
];

const MESSAGES: (() => JsonObject)[] = [
  () => ({ role: "user", content: "hello ☂ 🦀" }),
  () => ({ role: "user", content: [{ type: "text", text: "look" }] }),
  () => ({
    role: "user",
    content: [{ type: "image", source: { type: "base64", media_type: "image/png", data: "aGk=" } }],
  }),
];

const COMMON: ((id: string, random: Random) => JsonObject)[] = [
  (session_id) => ({ type: "blemeesd.interrupt", session_id }),
  (session_id) => ({ type: "blemeesd.close", id: "c1", session_id, delete: false }),
  () => ({ type: "blemeesd.ping", id: "p1", data: { any: ["thing", 1, null, true] } }),
  () => ({ type: "blemeesd.status", id: "s1" }),
  (session_id) => ({ type: "blemeesd.watch", id: "w1", session_id, last_seen_seq: 3 }),
  (session_id) => ({ type: "blemeesd.unwatch", id: "u1", session_id }),
  (session_id) => ({ type: "blemeesd.session_info", id: "i1", session_id }),
  () => ({ type: "blemeesd.list_sessions", id: "l1", cwd: "/nowhere/at/all", live: true }),
];

const FRAMES: Record<Protocol, ((id: string, random: Random) => JsonObject)[]> = {
  "blemees/2": [
    ...COMMON,
    () => ({ type: "blemeesd.hello", protocol: "blemees/2", client: "fuzz/1" }),
    (session_id, random) => ({ type: "agent.user", session_id, message: pick(MESSAGES, random)() }),
    (session_id, random) => ({
      type: "blemeesd.open",
      id: "o1",
      session_id,
      backend: "claude",
      resume: false,
      last_seen_seq: 0,
      options: { claude: pick(CLAUDE_BLOCKS, random)() },
    }),
    (session_id, random) => ({
      type: "blemeesd.open",
      session_id,
      backend: "claude",
      options: { claude: { ...pick(CLAUDE_BLOCKS, random)(), ...pick(CLAUDE_BLOCKS, random)() } },
    }),
    (session_id) => ({
      type: "blemeesd.open",
      session_id,
      backend: "demo",
      options: { demo: { cwd: "/tmp", model: "m", pace_ms: 1 } },
    }),
  ],
  "blemees/1": [
    ...COMMON,
    () => ({ type: "blemeesd.hello", protocol: "blemees/1" }),
    (session_id, random) => ({ type: "claude.user", session_id, message: pick(MESSAGES, random)() }),
    (session_id, random) => ({
      type: "blemeesd.open",
      id: "o1",
      session_id,
      resume: true,
      replay_user_messages: true,
      ...pick(CLAUDE_BLOCKS, random)(),
    }),
  ],
};

/** A fresh valid frame; `ids` are the sessions it may name. */
export function validFrame(protocol: Protocol, ids: readonly string[], random: Random): JsonObject {
  return pick(FRAMES[protocol], random)(pick(ids, random), random);
}

export function pick<T>(items: readonly T[], random: Random): T {
  const item = items[random(items.length)];
  if (item === undefined) throw new Error("nothing to pick from");
  return item;
}
