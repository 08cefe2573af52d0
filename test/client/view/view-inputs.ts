// Frames as a view gets them: numbered, each a tick after the one before; and the recorded streams of all backends.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Entry, View, ViewInput } from "../../../src/client/view/types.ts";
import { applyInputs, emptyView, type Limits } from "../../../src/client/view.ts";

export type Frame = Record<string, unknown> & { type: string };
type FrameInput = Extract<ViewInput, { kind: "frame" }>;

export const TICK_MS = 10;

export function inputsOf(frames: readonly Frame[], after = 0): FrameInput[] {
  return frames.map((frame, index) => {
    const seq = after + index + 1;
    return { kind: "frame", seq, frame, at_ms: seq * TICK_MS };
  });
}

export function viewOf(frames: readonly Frame[], limits?: Partial<Limits>): View {
  return applyInputs(emptyView(), inputsOf(frames), limits);
}

export function withFrames(view: View, ...frames: Frame[]): View {
  return applyInputs(view, inputsOf(frames, view.seq));
}

/** Without the fields that only name the origin. */
export function contentOf(entries: readonly Entry[]): object[] {
  return entries.map(({ id: _id, seq: _seq, at_ms: _at, ...entry }) => {
    const { ended_at_ms: _ended, waited_ms: _waited, ...rest } = entry as Record<string, unknown>;
    return rest;
  });
}

export const delta = (text: string, fields: object = {}): Frame => ({
  type: "agent.delta",
  kind: "text",
  text,
  ...fields,
});
export const thought = (text: string, fields: object = {}): Frame =>
  delta(text, { kind: "thinking", ...fields });
export const message = (content: readonly object[], fields: object = {}): Frame => ({
  type: "agent.message",
  role: "assistant",
  content,
  ...fields,
});
export const says = (text: string, fields: object = {}): Frame => message([{ type: "text", text }], fields);
export const call = (tool_use_id: string, name: string, input: unknown, fields: object = {}): Frame => ({
  type: "agent.tool_use",
  tool_use_id,
  name,
  input,
  ...fields,
});
export const result = (tool_use_id: string, output: unknown, fields: object = {}): Frame => ({
  type: "agent.tool_result",
  tool_use_id,
  output,
  ...fields,
});
export const notice = (category: string, fields: object = {}): Frame => ({
  type: "agent.notice",
  level: "info",
  category,
  ...fields,
});
export const ended = (fields: object = {}): Frame => ({
  type: "agent.result",
  subtype: "success",
  ...fields,
});

const FIXTURES = join(import.meta.dirname, "../../fixtures");

export interface Recorded {
  name: string;
  frames: Frame[];
}

/** The backends' translation of recorded traffic. Lines without a type are signals to the session. */
export function recordedStreams(): Recorded[] {
  return ["acp", "claude", "codex", "codex-mcp"].flatMap((folder) =>
    readdirSync(join(FIXTURES, folder))
      .filter((file) => file.endsWith(".agent.jsonl"))
      .map((file) => ({ name: `${folder}/${file}`, frames: framesIn(join(FIXTURES, folder, file)) })),
  );
}

function framesIn(file: string): Frame[] {
  return readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Frame)
    .filter(({ type }) => typeof type === "string");
}
