// A session in an agent's process: fresh, resumed, or loaded with its replay swallowed; then its model, mode and settings.
import { CodedError, messageOf } from "../../base/coded-error.ts";
import type { JsonObject } from "../../base/json.ts";
import { RpcError } from "../../base/jsonrpc.ts";
import { objectOf, objectsOf, stringOf, textOf } from "../values.ts";
import type { Births } from "./births.ts";
import { type AcpProcess, canLoad, canSession } from "./process.ts";
import { type Kept, Replay } from "./replay.ts";
import { toFailure } from "./results.ts";
import {
  nextSetting,
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
  cwd: string;
  /** `_meta` of the session, when the process serves many. */
  meta: JsonObject | undefined;
  wishes: Wishes;
  limits: Limits;
  clock: Clock;
  births: Births;
  /** When the session began, if that was here. */
  startedMs: number | undefined;
  /** Something that takes long, in words. */
  waiting(text: string): void;
}

export interface Opened {
  sessionId: string;
  settings: Settings;
  isNew: boolean;
  /** Why the conversation before could not be continued. */
  lost?: string;
  /** What came for the session while it was loaded. */
  kept: Kept[];
}

/** Throws `spawn_failed`, or `invalid_message` for a setting that the agent does not have. */
export async function openNew(opening: Opening): Promise<Opened> {
  const { server, name, limits, births, clock } = opening;
  let result: unknown;
  try {
    result = await server.request("session/new", paramsOf(opening), limits.openMs);
  } catch (error) {
    throw failed(opening, error);
  }
  const sessionId = textOf(objectOf(result)["sessionId"]);
  if (sessionId === undefined) {
    throw new CodedError("spawn_failed", `${name} opened a session without an id`);
  }
  births.note(sessionId, clock.now());
  const settings = await configure(opening, sessionId, readSettings(result));
  return { sessionId, settings, isNew: true, kept: [] };
}

/** `mayBegin`: if there is nothing to continue, begin anew and say so. */
export async function openAgain(opening: Opening, sessionId: string, mayBegin: boolean): Promise<Opened> {
  const { server, name } = opening;
  if (!canSession(server, "resume") && !canLoad(server)) {
    if (mayBegin) return { ...(await openNew(opening)), lost: `${name} cannot continue a session` };
    throw new CodedError("spawn_failed", `${name} can neither resume nor load a session; open a new one`);
  }
  try {
    return await takeUp(opening, sessionId);
  } catch (error) {
    if (!(error instanceof RpcError)) throw failed(opening, error);
    const failure = toFailure(error);
    // Agents have no common code for "no such session" (-32002, -32602, -32603 with words), but all have one for this.
    if (!mayBegin || failure.code === "auth_failed") throw failed(opening, error);
    return { ...(await openNew(opening)), lost: failure.message };
  }
}

async function takeUp(opening: Opening, sessionId: string): Promise<Opened> {
  const { server, limits } = opening;
  if (!canSession(server, "resume")) return load(opening, sessionId);
  const params = { sessionId, ...paramsOf(opening) };
  const result = await server.request("session/resume", params, limits.openMs);
  return taken(opening, sessionId, result, []);
}

async function load(opening: Opening, sessionId: string): Promise<Opened> {
  const { server, limits, clock, births, name } = opening;
  const waitMs = births.waitMs(server.intro, sessionId, clock.now(), opening.startedMs);
  if (waitMs > 0) {
    opening.waiting(
      `${name} loses a session that it loads in the minute in which it made it; waiting ${Math.ceil(waitMs / 1000)} s`,
    );
    await clock.sleep(waitMs);
  }
  const replay = new Replay();
  const before = server.router.ownerOf(sessionId);
  server.router.claim(sessionId, replay);
  try {
    const params = { sessionId, ...paramsOf(opening) };
    const result = await server.request("session/load", params, limits.openMs);
    await replay.quiet(limits.quietMs, clock);
    return await taken(opening, sessionId, result, replay.kept);
  } finally {
    server.router.retire(replay);
    if (before !== undefined) server.router.claim(sessionId, before);
  }
}

async function taken(opening: Opening, sessionId: string, result: unknown, kept: Kept[]): Promise<Opened> {
  const settings = await configure(opening, sessionId, readSettings(result));
  return { sessionId, settings, isNew: false, kept };
}

function paramsOf({ cwd, meta }: Opening): JsonObject {
  return { cwd, mcpServers: [], ...(meta === undefined ? {} : { _meta: meta }) };
}

/** The model first: other options come and go with it. */
async function applyWishes(opening: Opening, sessionId: string, settings: Settings): Promise<Settings> {
  const { server, limits, name, wishes } = opening;
  const done = new Set<string>();
  let now = settings;
  for (;;) {
    const call = nextSetting(now, wishes, done, `/options/${name}`);
    if (call === undefined) return now;
    done.add(call.at);
    try {
      const answer = await server.request(call.method, { sessionId, ...call.params }, limits.settingMs);
      now = afterCall(now, call, answer);
    } catch (cause) {
      if (!(cause instanceof RpcError)) throw failed(opening, cause);
      const words = toFailure(cause).message;
      throw new CodedError("invalid_message", `${call.at}: ${name} refused it: ${words}`, { cause });
    }
  }
}

/** In a process that others share, a session that nobody uses must not stay behind. */
async function configure(opening: Opening, sessionId: string, settings: Settings): Promise<Settings> {
  const { server, limits } = opening;
  try {
    return await applyWishes(opening, sessionId, settings);
  } catch (error) {
    if (canSession(server, "close")) {
      await server.request("session/close", { sessionId }, limits.closeMs).catch(() => undefined);
    }
    throw error;
  }
}

function afterCall(settings: Settings, { method, params }: SettingCall, answer: unknown): Settings {
  const { configOptions } = objectOf(answer);
  const listed = withOptions(settings, configOptions);
  if (method === "session/set_mode") return withMode(listed, stringOf(params["modeId"]) ?? "");
  if (method === "session/set_model") return withModel(listed, stringOf(params["modelId"]) ?? "");
  return listed;
}

/** Nobody hears what another session is told. */
export function openElsewhere(name: string, sessionId: string): CodedError {
  const text = `session ${sessionId} of ${name} is open in another session of this daemon`;
  return new CodedError("spawn_failed", text);
}

function failed({ name, server }: Opening, cause: unknown): CodedError {
  if (cause instanceof CodedError) return cause;
  if (!(cause instanceof RpcError)) {
    return new CodedError("spawn_failed", `${name}: ${messageOf(cause)}`, { cause });
  }
  const { code, message } = toFailure(cause);
  if (code !== "auth_failed") return new CodedError("spawn_failed", `${name}: ${message}`, { cause });
  const ways = objectsOf(server.intro["authMethods"]).flatMap((method) => textOf(method["name"]) ?? []);
  // One that knows no way to log in needs a key, and has said which.
  const advice = ways.length > 0 ? `; log in with its own program (it knows: ${ways.join(", ")})` : "";
  const text = `${name}: ${message}${advice}`;
  return new CodedError("spawn_failed", text, { cause, data: { reason: "auth" } });
}
