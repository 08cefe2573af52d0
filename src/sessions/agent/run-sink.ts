// Forwards events of one run. Once its agent has ended, late output is dropped instead of being taken for the next
// run's.
import type { BackendSink } from "../../backends/types.ts";

export function muteAfterEnd(sink: BackendSink): BackendSink {
  let isOver = false;
  const alive = <A extends unknown[]>(handle: (...args: A) => void) => {
    return (...args: A) => {
      if (!isOver) handle(...args);
    };
  };
  return {
    event: alive((event) => sink.event(event)),
    ending: alive(() => sink.ending?.()),
    used: alive((used) => sink.used?.(used)),
    steered: alive((message_id, how) => sink.steered?.(message_id, how)),
    turnStarted: alive(() => sink.turnStarted()),
    stderr: alive((line) => sink.stderr(line)),
    authFailed: alive((message) => sink.authFailed(message)),
    calmed: alive(() => sink.calmed()),
    ask: alive((ask) => sink.ask(ask)),
    toolCalled: alive((call) => sink.toolCalled?.(call)),
    withdrawn: alive((native_id, reason) => sink.withdrawn(native_id, reason)),
    nativeId: alive((id) => sink.nativeId(id)),
    ended: alive((why) => {
      isOver = true;
      sink.ended(why);
    }),
  };
}
