// Several tool calls of one model answer. Adjacent calls that change nothing run at the same time; all others run alone, in
// the model's order.
import { mapBounded } from "../base/map-bounded.ts";
import { Serial } from "../base/serial.ts";
import type { ToolCall } from "./messages.ts";
import type { Services } from "./services.ts";
import { type Admit, CallFailed, type CallOutcome, runToolCall, skipToolCall } from "./tool-call.ts";

export const MAX_PARALLEL = 8;
const STOPPED = "the user stopped the turn";

export type CallGroup = readonly ToolCall[];

export function groupCalls({ tools }: Pick<Services, "tools">, calls: readonly ToolCall[]): CallGroup[] {
  const isReading = ({ name }: ToolCall) =>
    tools.find((tool) => tool.name === name)?.metadata.sideEffect === "none";
  const groups: ToolCall[][] = [];
  for (const call of calls) {
    const last = groups.at(-1);
    const isTogether = last !== undefined && isReading(call) && last.every(isReading);
    if (isTogether && last.length < MAX_PARALLEL) last.push(call);
    else groups.push([call]);
  }
  return groups;
}

/** Outcomes are in the order of the calls. The user is asked about one call at a time. */
export async function runGroup(
  services: Services,
  group: CallGroup,
  { signal, isStopped }: { signal: AbortSignal; isStopped: boolean },
): Promise<CallOutcome[]> {
  const checks = new Serial();
  let hasStopped = isStopped;
  const admit: Admit = (check) =>
    checks.run(async () => {
      if (hasStopped) throw new CallFailed("aborted", `Not run: ${STOPPED}.`);
      try {
        return await check();
      } catch (error) {
        hasStopped ||= error instanceof CallFailed && error.stop;
        throw error;
      }
    });
  return mapBounded(group, MAX_PARALLEL, async (call) => {
    if (signal.aborted || hasStopped) return skip(services, call, hasStopped);
    const outcome = await runToolCall(services, call, signal, admit);
    hasStopped ||= outcome.stop;
    return outcome;
  });
}

function skip(services: Services, call: ToolCall, isStopped: boolean): CallOutcome {
  const why = isStopped ? STOPPED : "the turn was aborted";
  return { message: skipToolCall(services, call, why), stop: false };
}
