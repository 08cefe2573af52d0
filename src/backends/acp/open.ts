// Opens a session in an agent's process: new, resumed, or loaded with its replay discarded; then sets model, mode and
// options.

import { CodedError, toMessage } from "../../base/coded-error.ts";
import type { JsonObject } from "../../base/json.ts";
import { RpcError } from "../../base/jsonrpc.ts";
import { asObject, asObjects, asString, asText, defined } from "../../base/values.ts";
import type { SessionLane } from "../shared-process.ts";
import type { GivenMcpServer } from "../types.ts";
import type { Births } from "./births.ts";
import { toAcpServers } from "./mcp-servers.ts";
import { type AcpProcess, canLoad, canSession } from "./process.ts";
import { type Kept, Replay } from "./replay.ts";
import { toFailure } from "./results.ts";
import {
  findNextSetting,
  readSettings,
  type SettingCall,
  type Settings,
  type Wishes,
  withMode,
  withModel,
  withOptions,
} from "./settings.ts";
import type { Clock, Limits } from "./spec.ts";

export interface Opening {
  name: string;
  server: AcpProcess;
  lane: SessionLane;
  cwd: string;
  /** `_meta` of the session, for a shared process. */
  meta: JsonObject | undefined;
  wishes: Wishes;
  /** Contain secrets, so they are not kept. */
  mcp: readonly GivenMcpServer[] | undefined;
  limits: Limits;
  clock: Clock;
  births: Births;
  /** When the session was created, if here. */
  startedMs: number | undefined;
  /** Reports something that takes long. */
  waiting(text: string): void;
}

export interface Opened {
  sessionId: string;
  settings: Settings;
  isNew: boolean;
  /** Why the previous conversation could not be continued. */
  lost?: string;
  /** Messages received for the session while it was loading. */
  kept: Kept[];
}

/** Throws `spawn_failed`, or `invalid_message` for a setting the agent does not have. */
export async function openNew(opening: Opening): Promise<Opened> {
  const { lane, name, limits, births, clock } = opening;
  let result: unknown;
  try {
    result = await lane.request("session/new", makeParams(opening), limits.openMs);
  } catch (error) {
    throw toSpawnError(opening, error);
  }
  const sessionId = asText(asObject(result)["sessionId"]);
  if (sessionId === undefined) {
    throw new CodedError("spawn_failed", `${name} opened a session without an id`);
  }
  births.note(sessionId, clock.now());
  const settings = await configure(opening, sessionId, readSettings(result));
  return { sessionId, settings, isNew: true, kept: [] };
}

/** `mayBegin`: if there is nothing to continue, start a new conversation and report it. */
export async function openAgain(opening: Opening, sessionId: string, mayBegin: boolean): Promise<Opened> {
  const { server, name } = opening;
  if (!canSession(server, "resume") && !canLoad(server)) {
    if (mayBegin) return { ...(await openNew(opening)), lost: `${name} cannot continue a session` };
    throw new CodedError("spawn_failed", `${name} can neither resume nor load a session; open a new one`);
  }
  try {
    return await takeUp(opening, sessionId);
  } catch (error) {
    if (!(error instanceof RpcError)) throw toSpawnError(opening, error);
    const failure = toFailure(error);
    // Agents have no common code for "no such session" (-32002, -32602, -32603 with text), but all have one for this.
    if (!mayBegin || failure.code === "auth_failed") throw toSpawnError(opening, error);
    return { ...(await openNew(opening)), lost: failure.message };
  }
}

async function takeUp(opening: Opening, sessionId: string): Promise<Opened> {
  const { server, lane, limits } = opening;
  if (!canSession(server, "resume")) return load(opening, sessionId);
  const params = { sessionId, ...makeParams(opening) };
  const result = await lane.request("session/resume", params, limits.openMs);
  return adopt(opening, sessionId, result, []);
}

async function load(opening: Opening, sessionId: string): Promise<Opened> {
  const { server, lane, limits, clock, births, name } = opening;
  const waitMs = births.waitMs(server.intro, sessionId, clock.now(), opening.startedMs);
  if (waitMs > 0) {
    opening.waiting(
      `${name} cannot load a session in the minute it was created; waiting ${Math.ceil(waitMs / 1000)} s`,
    );
    await clock.sleep(waitMs);
  }
  const replay = new Replay();
  const before = server.router.findOwner(sessionId);
  server.router.claim(sessionId, replay);
  try {
    const params = { sessionId, ...makeParams(opening) };
    const result = await lane.request("session/load", params, limits.openMs);
    await replay.quiet(limits.quietMs, clock);
    return await adopt(opening, sessionId, result, replay.kept);
  } finally {
    server.router.retire(replay);
    if (before !== undefined) server.router.claim(sessionId, before);
  }
}

async function adopt(opening: Opening, sessionId: string, result: unknown, kept: Kept[]): Promise<Opened> {
  const settings = await configure(opening, sessionId, readSettings(result));
  return { sessionId, settings, isNew: false, kept };
}

function makeParams(opening: Opening): JsonObject {
  const { cwd, meta } = opening;
  return { cwd, mcpServers: toAcpServers(opening), ...defined({ _meta: meta }) };
}

/** The model first: other options depend on it. */
async function applyWishes(opening: Opening, sessionId: string, settings: Settings): Promise<Settings> {
  const { lane, limits, name, wishes } = opening;
  let at = "";
  try {
    const place = { lane, settingMs: limits.settingMs, sessionId };
    return await applySettings(place, settings, wishes, `/options/${name}`, (call) => {
      at = call.at;
    });
  } catch (cause) {
    if (cause instanceof CodedError || !(cause instanceof RpcError)) throw toSpawnError(opening, cause);
    const words = toFailure(cause).message;
    throw new CodedError("invalid_message", `${at}: ${name} refused it: ${words}`, { cause });
  }
}

/** Sets one after the other, and returns what the agent then has. Throws what the agent or the check says. */
export async function applySettings(
  { lane, settingMs, sessionId }: { lane: SessionLane; settingMs: number; sessionId: string },
  settings: Settings,
  wishes: Wishes,
  at: string,
  calling: (call: SettingCall) => void = () => undefined,
): Promise<Settings> {
  const done = new Set<string>();
  let now = settings;
  for (;;) {
    const call = findNextSetting(now, wishes, done, at);
    if (call === undefined) return now;
    done.add(call.at);
    calling(call);
    now = afterCall(now, call, await lane.request(call.method, { sessionId, ...call.params }, settingMs));
  }
}

/** In a shared process, an unused session must not be left open. */
async function configure(opening: Opening, sessionId: string, settings: Settings): Promise<Settings> {
  const { server, lane, limits } = opening;
  try {
    return await applyWishes(opening, sessionId, settings);
  } catch (error) {
    if (canSession(server, "close")) {
      await lane.request("session/close", { sessionId }, limits.closeMs).catch(() => undefined);
    }
    throw error;
  }
}

function afterCall(settings: Settings, { method, params }: SettingCall, answer: unknown): Settings {
  const { configOptions } = asObject(answer);
  const listed = withOptions(settings, configOptions);
  if (method === "session/set_mode") return withMode(listed, asString(params["modeId"]) ?? "");
  if (method === "session/set_model") return withModel(listed, asString(params["modelId"]) ?? "");
  return listed;
}

/** No session sees another session's messages. */
export function openElsewhere(name: string, sessionId: string): CodedError {
  const text = `session ${sessionId} of ${name} is open in another session of this daemon`;
  return new CodedError("spawn_failed", text);
}

function toSpawnError({ name, server }: Opening, cause: unknown): CodedError {
  if (cause instanceof CodedError) return cause;
  if (!(cause instanceof RpcError)) {
    return new CodedError("spawn_failed", `${name}: ${toMessage(cause)}`, { cause });
  }
  const { code, message } = toFailure(cause);
  if (code !== "auth_failed") return new CodedError("spawn_failed", `${name}: ${message}`, { cause });
  const ways = asObjects(server.intro["authMethods"]).flatMap((method) => asText(method["name"]) ?? []);
  // An agent without login methods needs a key, and has said which.
  const advice = ways.length > 0 ? `; log in with its own program (methods: ${ways.join(", ")})` : "";
  const text = `${name}: ${message}${advice}`;
  return new CodedError("spawn_failed", text, { cause, data: { reason: "auth" } });
}
