// Names of tool calls that do not come again: some models call the first tool of every answer "call_0", and so do
// their sub-agents at the same time.
import type { InvocationFields } from "../../../runtime/events.ts";

type Call = InvocationFields & { callId: string };

export class CallNames {
  readonly #used = new Set<string>();
  readonly #names = new Map<string, string>();
  readonly #newest = new Map<string, string>();
  readonly #open = new Set<string>();
  readonly #parents = new Map<string, string>();

  begin(call: Call): string {
    const { callId } = call;
    let name = callId;
    for (let n = 2; this.#used.has(name); n += 1) name = `${callId}~${n}`;
    this.#used.add(name);
    this.#names.set(keyOf(call), name);
    this.#newest.set(callId, name);
    this.#open.add(name);
    const parent = this.parentOf(call);
    if (parent !== undefined) this.#parents.set(name, parent);
    return name;
  }

  end(call: Call): string {
    const name = this.nameOf(call);
    this.#open.delete(name);
    return name;
  }

  isOpen(call: Call): boolean {
    return this.#open.has(this.nameOf(call));
  }

  nameOf(call: Call): string {
    return this.#names.get(keyOf(call)) ?? call.callId;
  }

  newest(callId: string): string {
    return this.#newest.get(callId) ?? callId;
  }

  /** The call that started the sub-agent which made the call of this name. */
  above(name: string): string | undefined {
    return this.#parents.get(name);
  }

  /** The call that started the sub-agent which did this; undefined: the main agent did. */
  parentOf({ parentCallId, parentInvocationId, invocationId }: InvocationFields): string | undefined {
    if (parentCallId === undefined) return undefined;
    const caller = parentInvocationId ?? invocationId;
    const key = keyOf({ callId: parentCallId, ...(caller === undefined ? {} : { invocationId: caller }) });
    return this.#names.get(key) ?? this.newest(parentCallId);
  }
}

function keyOf({ invocationId = "", callId }: Call): string {
  return JSON.stringify([invocationId, callId]);
}
