// Unique ids for tool calls: some models call the first tool of every response "call_0", and so may their sub-agents at
// the same time.
import { defined } from "../../../base/values.ts";
import type { InvocationFields } from "../../../runtime/events.ts";

type Call = InvocationFields & { callId: string };

export class CallIds {
  readonly #used = new Set<string>();
  readonly #names = new Map<string, string>();
  readonly #newest = new Map<string, string>();
  readonly #open = new Set<string>();

  begin(call: Call): string {
    const { callId } = call;
    let name = callId;
    for (let n = 2; this.#used.has(name); n += 1) name = `${callId}~${n}`;
    this.#used.add(name);
    this.#names.set(toKey(call), name);
    this.#newest.set(callId, name);
    this.#open.add(name);
    return name;
  }

  end(call: Call): string {
    const name = this.findId(call);
    this.#open.delete(name);
    return name;
  }

  isOpen(call: Call): boolean {
    return this.#open.has(this.findId(call));
  }

  findId(call: Call): string {
    return this.#names.get(toKey(call)) ?? call.callId;
  }

  findNewest(callId: string): string {
    return this.#newest.get(callId) ?? callId;
  }

  /** The call that started the sub-agent of this event; undefined for the main agent. */
  findParent({ parentCallId, parentInvocationId, invocationId }: InvocationFields): string | undefined {
    if (parentCallId === undefined) return undefined;
    const caller = parentInvocationId ?? invocationId;
    const key = toKey({ callId: parentCallId, ...defined({ invocationId: caller }) });
    return this.#names.get(key) ?? this.findNewest(parentCallId);
  }
}

function toKey({ invocationId = "", callId }: Call): string {
  return JSON.stringify([invocationId, callId]);
}
