// Requests that an earlier daemon has made, while they are made again: each gets its old id, whatever came in between,
// and a reply that is read before its request was repeated waits for it.
import { isObject, type JsonObject } from "./json.ts";
import { getLane, type RpcLane } from "./jsonrpc-lanes.ts";

interface Made {
  id: number;
  method: string;
  params: string;
}

export class RpcReplay {
  readonly #made: Made[] = [];
  readonly #early = new Map<number, JsonObject>();
  /** The highest id of each lane. */
  readonly #highest = new Map<number, number>();

  /** `lines`: everything that was written, in order. */
  constructor(lines: readonly string[]) {
    for (const line of lines) {
      const { id, method, params } = parse(line);
      if (typeof method !== "string" || typeof id !== "number") continue;
      this.#made.push({ id, method, params: toText(params) });
      const lane = getLane(id);
      this.#highest.set(lane, Math.max(id, this.#highest.get(lane) ?? 0));
    }
  }

  /** Every id used so far is at most the last of this lane. */
  get lastLane(): number {
    return Math.max(0, ...this.#highest.keys());
  }

  highestOf(lane: number): number {
    return this.#highest.get(lane) ?? 0;
  }

  /** The id of this request, if it was made before; once. */
  take(lane: RpcLane, method: string, params: JsonObject | undefined): number | undefined {
    const at = this.#find(lane, method, params);
    return at === -1 ? undefined : this.#made.splice(at, 1)[0]?.id;
  }

  wasMade(lane: RpcLane, method: string, params: JsonObject | undefined): boolean {
    return this.#find(lane, method, params) !== -1;
  }

  /** A reply whose request has not been repeated yet. */
  keep(id: number, message: JsonObject): void {
    if (this.#made.some((made) => made.id === id)) this.#early.set(id, message);
  }

  /** The reply that came before its request. */
  takeReply(id: number): JsonObject | undefined {
    const message = this.#early.get(id);
    this.#early.delete(id);
    return message;
  }

  #find(lane: RpcLane, method: string, params: JsonObject | undefined): number {
    const text = toText(params);
    return this.#made.findIndex(
      (made) =>
        made.method === method &&
        getLane(made.id) === lane.number &&
        made.id > lane.from &&
        made.params === text,
    );
  }
}

function parse(line: string): JsonObject {
  const value: unknown = JSON.parse(line);
  return isObject(value) ? value : {};
}

function toText(params: unknown): string {
  return JSON.stringify(params) ?? "";
}
