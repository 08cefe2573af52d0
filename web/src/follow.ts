// Redraws an element when its stores change, while it is connected.
import type { ReactiveController, ReactiveControllerHost } from "lit";
import type { Store } from "./app-types.ts";

export class Follow implements ReactiveController {
  readonly #host: ReactiveControllerHost;
  readonly #stores: () => readonly Store<unknown>[];
  #held: readonly Store<unknown>[] = [];
  #ends: (() => void)[] = [];

  /** `stores` may return none until the element has its `app`. */
  constructor(host: ReactiveControllerHost, stores: () => readonly Store<unknown>[]) {
    this.#host = host;
    this.#stores = stores;
    host.addController(this);
  }

  hostUpdate(): void {
    const stores = this.#stores();
    if (stores.length === this.#held.length && stores.every((store, at) => store === this.#held[at])) return;
    this.hostDisconnected();
    this.#held = stores;
    this.#ends = stores.map((store) => store.subscribe(() => this.#host.requestUpdate()));
  }

  hostConnected(): void {
    this.#host.requestUpdate();
  }

  hostDisconnected(): void {
    for (const end of this.#ends) end();
    this.#ends = [];
    this.#held = [];
  }
}
