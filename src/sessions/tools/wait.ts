// Waits for agents. What the caller learns here need not wake it again.
import { setTimeout as delay } from "node:timers/promises";
import type * as z from "zod";
import { CodedError } from "../../base/coded-error.ts";
import type { SessionView, WaitReply } from "../../protocol/views.ts";
import { findSession } from "./find.ts";
import type { INPUTS } from "./inputs.ts";
import { toBrief, toBriefRequest } from "./shapes.ts";
import type { ToolContext } from "./types.ts";

/** Below the 60 s after which many MCP clients give up. */
const DEFAULT_S = 45;
/** A wake is queued just after the event that it reports, so it is looked for several times. */
const WAKE_TRIES = 6;
const WAKE_PAUSE_MS = 50;
const MAX_REQUESTS = 10;

export async function waitForAny(input: z.infer<typeof INPUTS.wait>, context: ToolContext): Promise<object> {
  const { ids, all = false, timeout_s = DEFAULT_S } = input;
  const sessions = await Promise.all(ids.map((id) => findSession(context, id)));
  for (const { session_id } of sessions) refuseOwn(session_id, context);
  const enough = new AbortController();
  const signal = AbortSignal.any([context.signal, enough.signal]);
  const ends: WaitReply[] = [];
  const waits = sessions.map(async ({ session_id }) => {
    const end = await context.manager.wait({
      ...{ session_id, until: ["idle", "blocked"], timeoutMs: timeout_s * 1000, signal },
    });
    if (signal.aborted && !all) return;
    ends.push(end);
    if (!all && end.reason !== "timeout") enough.abort();
  });
  const settled = await Promise.allSettled(waits);
  const failed = settled.find((one) => one.status === "rejected");
  if (failed !== undefined && ends.length === 0) throw failed.reason;
  return { sessions: await Promise.all(ends.map((end) => describeEnd(end, context))) };
}

async function describeEnd({ reason, session }: WaitReply, context: ToolContext): Promise<object> {
  if (reason !== "timeout") await dropWakes(session, context);
  const end = { reason, session: toBrief(session) };
  if (reason !== "blocked") return end;
  const { requests } = await context.manager.requests({
    session_id: session.session_id,
    limit: MAX_REQUESTS,
  });
  return { ...end, requests: requests.map(toBriefRequest) };
}

function refuseOwn(session_id: string, { self }: ToolContext): void {
  if (session_id === self)
    throw new CodedError("invalid_message", "ids: your own turn cannot end while you wait for it");
}

async function dropWakes({ session_id, parent }: SessionView, { manager, self }: ToolContext): Promise<void> {
  if (self === undefined || parent !== self) return;
  for (let count = 1; count <= WAKE_TRIES; count += 1) {
    const { queued } = await manager.queue(self);
    const wakes = queued.filter(({ kind, from }) => kind === "wake" && from === session_id);
    for (const { message_id } of wakes) {
      // It may have been delivered in the meantime.
      await manager.cancelInput(self, message_id).catch(() => undefined);
    }
    if (wakes.length > 0) return;
    await delay(WAKE_PAUSE_MS);
  }
}
