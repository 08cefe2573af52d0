// Clients that read a session: at most one owner, any number of watchers. Each client has one position in the stream,
// so an owner that also watches gets each frame once.

import type { Client, Subscriber } from "../types.ts";
import { Feed } from "./feed.ts";
import type { Stream } from "./stream.ts";

export interface Reader {
  client: Client;
  subscriber: Subscriber;
}

export class Audience {
  readonly #stream: Stream;
  #owner: Feed | undefined;

  constructor(stream: Stream) {
    this.#stream = stream;
  }

  get owner(): Feed | undefined {
    return this.#owner;
  }

  /** Makes the reader the owner. A previous owner that also watches stays as a watcher. */
  own({ client, subscriber }: Reader, last_seen_seq: number): Feed {
    const previous = this.#owner;
    const watching = this.#watching(client);
    if (previous !== undefined && previous.client !== client) {
      previous.subscriber.taken(client.peer_pid);
      if (previous.isWatching) previous.demote();
    }
    if (previous?.role === "owner") previous.end();
    watching?.end();
    // A watcher that is still catching up must get the rest.
    const promised = watching?.role === "watcher" ? watching.cursor : last_seen_seq;
    const after_seq = Math.min(last_seen_seq, promised);
    this.#owner = new Feed({ client, subscriber, stream: this.#stream, role: "owner", after_seq });
    this.#owner.isWatching = watching !== undefined;
    return this.#owner;
  }

  watch({ client, subscriber }: Reader, last_seen_seq: number | undefined): Feed {
    if (this.#owner?.client === client) {
      this.#owner.watch(last_seen_seq);
      return this.#owner;
    }
    this.unwatch(client);
    const after_seq = last_seen_seq ?? this.#stream.last_seq;
    return new Feed({ client, subscriber, stream: this.#stream, role: "watcher", after_seq });
  }

  /** False if the client was not watching. */
  unwatch(client: Client): boolean {
    const feed = this.#watching(client);
    if (feed === undefined) return false;
    if (feed === this.#owner) feed.isWatching = false;
    else feed.end();
    return true;
  }

  /** The owner has disconnected. */
  disown(): void {
    this.#owner?.end();
    this.#owner = undefined;
  }

  /** Ends all feeds. Each watcher gets the reason; an owner only if others closed its session. */
  close(reason: string): void {
    for (const feed of [...this.#stream.feeds]) {
      if (feed.isWatching || reason === "deleted") feed.subscriber.closed(reason);
      feed.end();
    }
    this.#owner = undefined;
  }

  #watching(client: Client): Feed | undefined {
    for (const feed of this.#stream.feeds) if (feed.isWatching && feed.client === client) return feed;
    return undefined;
  }
}
