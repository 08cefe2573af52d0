// Memory that both threads see: a batch's bytes are copied into it once and read there by the driver. Buffers made
// for each append instead pile up in the thread until it collects them (40 MB more at 400k events/s).
import type { AppendOrder } from "./types.ts";

const SIZE = 1024 * 1024;

export class SharedArea {
  readonly #memory = new SharedArrayBuffer(SIZE);
  #isTaken = false;

  /**
   * The order with its bytes moved out of the caller's buffers; `free` when the thread has answered. What does not
   * fit, or comes while the area is taken, gets memory of its own: only ever the view, never the pool under it.
   */
  moveIn(order: AppendOrder): { order: AppendOrder; free: () => void } {
    const total = order.batches.reduce((sum, batch) => sum + batch.bytes.length, 0);
    const isShared = !this.#isTaken && total <= SIZE;
    if (isShared) this.#isTaken = true;
    let offset = 0;
    const batches = order.batches.map((batch) => {
      if (!isShared) return { ...batch, bytes: new Uint8Array(batch.bytes) };
      const bytes = new Uint8Array(this.#memory, offset, batch.bytes.length);
      bytes.set(batch.bytes);
      offset += bytes.length;
      return { ...batch, bytes };
    });
    const free = () => {
      if (isShared) this.#isTaken = false;
    };
    return { order: { ...order, batches }, free };
  }
}
