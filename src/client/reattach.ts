// After a reconnect: reattaches every stream from its last seq, and finds out whether a message that was in flight
// arrived.
import { CodedError } from "../base/coded-error.ts";
import type { Reply, RequestFrame } from "./frames.ts";
import type { Attachment } from "./port.ts";
import type { SessionStream } from "./stream.ts";

type Ask = <F extends RequestFrame>(frame: F) => Promise<Reply<F["type"]>>;

/** Rejects only if the connection is lost again; a refused session ends its own stream. */
export async function reattach(
  attachments: readonly Attachment[],
  ask: Ask,
  onRefused: (stream: SessionStream) => void,
): Promise<void> {
  await Promise.all(
    attachments.map(async ({ stream, again }) => {
      try {
        await ask(again(stream.cursor));
        if (stream.turnFloor !== undefined) await checkTurn(stream, ask);
      } catch (error) {
        if (!isRefusal(error)) throw error;
        onRefused(stream);
        stream.end({ code: error.code, message: `cannot resume: ${error.message}`, isFailure: true });
      }
    }),
  );
}

/** Our message has no result yet. If no turn has started either, it was lost. */
async function checkTurn(stream: SessionStream, ask: Ask): Promise<void> {
  const { session_id } = stream;
  const { sessions } = await ask({ type: "blemeesd.list_sessions", live: true });
  const row = sessions.find((session) => session.session_id === session_id);
  if (row?.turn_active !== false || stream.turnFloor === undefined) return;
  const message = "the last message did not reach the daemon (restart or lost connection); send it again";
  stream.loseTurnAt(row.last_seq ?? 0, { type: "client.message_lost", session_id, message });
}

/** Codes about the connection, not the session. */
const CONNECTION_CODES = new Set([
  "connection_lost",
  "connection_closed",
  "aborted",
  "bad_frame",
  "frame_too_large",
]);

function isRefusal(error: unknown): error is CodedError {
  return error instanceof CodedError && !CONNECTION_CODES.has(error.code);
}
