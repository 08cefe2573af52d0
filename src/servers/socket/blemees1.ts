// The blemees/1 dialect: the same session as Claude Code's own events under `claude.*`. A session opened by a blemees/1
// client keeps every native event (`native_events`), so its projection is exact; one opened by a blemees/2 client is
// converted from its agent.* frames (protocol/wire/claude-view.ts).
import { isObject, type JsonObject } from "../../base/json.ts";
import { ERRORS, type ErrorEntry, isErrorCode } from "../../protocol/errors.ts";
import { INBOUND, OPEN_FIELDS, PROTOCOL } from "../../protocol/wire/blemees1.ts";
import type { Outbound } from "../../protocol/wire/blemees2-outbound.ts";
import { toClaudeFrame } from "../../protocol/wire/claude-view.ts";
import type { DaemonFacts } from "../types.ts";
import { checkFrame } from "./check.ts";
import type { Dialect } from "./dialect.ts";

const BACKEND = "claude";

export const blemees1: Dialect = {
  protocol: PROTOCOL,
  deletesTranscripts: true,
  accept(frame) {
    const checked = checkFrame(INBOUND, frame);
    if (checked.type === "claude.user") return { type: "agent.user", frame: checked.frame };
    if (checked.type === "blemeesd.open") return { type: checked.type, frame: openFrame(checked.frame) };
    return { type: checked.type, frame: checked.frame };
  },
  render(frame, facts) {
    return isObject(frame) ? renderFrame(frame, facts) : undefined;
  },
  renderBatch(batch) {
    const lines: string[] = [];
    for (const line of batch.bytes.toString("utf8").split("\n")) {
      if (line === "") continue;
      const shown = renderStreamFrame(JSON.parse(line));
      if (shown !== undefined) lines.push(`${JSON.stringify(shown)}\n`);
    }
    return lines.length === 0 ? undefined : Buffer.from(lines.join(""));
  },
};

/** Top-level fields become options of the Claude backend; null means unset. */
function openFrame(frame: JsonObject): JsonObject {
  const envelope: JsonObject = { backend: BACKEND };
  const options: JsonObject = { native_events: true };
  for (const [key, value] of Object.entries(frame)) {
    if ((OPEN_FIELDS as readonly string[]).includes(key)) envelope[key] = value;
    else if (value !== null) options[key === "replay_user_messages" ? "user_echo" : key] = value;
  }
  return { ...envelope, options: { [BACKEND]: options } };
}

/** Fields that blemees/1 lacks, by frame type. */
const NEWER_FIELDS: Record<string, readonly string[]> = {
  "blemeesd.hello_ack": ["backends", "features"],
  "blemeesd.opened": ["backend", "native_session_id"],
  "blemeesd.status_reply": ["backends"],
  "blemeesd.session_info_reply": ["backend", "native_session_id"],
  "blemeesd.error": ["backend", "data"],
};
const NEWER_FRAMES = new Set(["blemeesd.session_closed", "blemeesd.catching_up"]);

function renderFrame(frame: Outbound, facts: DaemonFacts): object | undefined {
  if (NEWER_FRAMES.has(frame.type)) return undefined;
  const shown: JsonObject = { ...frame };
  for (const key of NEWER_FIELDS[frame.type] ?? []) delete shown[key];
  if (frame.type === "blemeesd.error") shown["code"] = olderCode(frame.code);
  if (frame.type === "blemeesd.hello_ack" || frame.type === "blemeesd.status_reply") {
    const version = facts.backends()[BACKEND];
    if (version !== undefined) shown["claude_version"] = version;
  }
  if (frame.type === "blemeesd.status_reply") {
    const { by_backend: _, ...sessions } = frame.sessions;
    shown["sessions"] = sessions;
  }
  return shown;
}

function renderStreamFrame(frame: JsonObject): object | undefined {
  if (frame["type"] === "blemeesd.error") {
    const { backend: _, ...rest } = frame;
    return { ...rest, code: olderCode(String(frame["code"])) };
  }
  return String(frame["type"]).startsWith("agent.") ? toClaudeFrame(frame) : frame;
}

function olderCode(code: string): string {
  const entry: ErrorEntry | undefined = isErrorCode(code) ? ERRORS[code] : undefined;
  return entry?.blemees1 ?? code;
}
