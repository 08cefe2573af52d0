// Ids of our JSON-RPC requests. Each session of a shared process has a lane of its own, so that its ids do not depend on
// what the others do, and an id shows whose request it is.

/** Ids of a lane: the lane's number times this, plus 1, 2, … */
export const LANE_IDS = 1_000_000;

/** For snapshots. */
export interface LanePlace {
  number: number;
  /** How many ids were used. */
  count: number;
}

export class RpcLane {
  readonly number: number;
  /** Ids up to this one were used before this lane was opened here. */
  readonly from: number;
  #count: number;
  #open = 0;

  constructor({ number, count }: LanePlace) {
    this.number = number;
    this.from = toId(number, count);
    this.#count = count;
  }

  get place(): LanePlace {
    return { number: this.number, count: this.#count };
  }

  /** No request waits for its reply. */
  get isQuiet(): boolean {
    return this.#open === 0;
  }

  next(): number {
    this.#count += 1;
    return toId(this.number, this.#count);
  }

  /** This id and those before it are not used again. */
  skipTo(id: number): void {
    if (getLane(id) === this.number) this.#count = Math.max(this.#count, id % LANE_IDS);
  }

  /** Counts a request as open until the promise settles. */
  async track<T>(asked: Promise<T>): Promise<T> {
    this.#open += 1;
    try {
      return await asked;
    } finally {
      this.#open -= 1;
    }
  }
}

export function getLane(id: number): number {
  return Math.floor(id / LANE_IDS);
}

function toId(lane: number, count: number): number {
  return lane * LANE_IDS + count;
}
