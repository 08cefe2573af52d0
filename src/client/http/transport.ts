// What carries the HTTP client's requests: the Unix socket (unix-transport.ts) or fetch (fetch-transport.ts).

export interface Order {
  method: "GET" | "POST" | "PATCH" | "DELETE";
  path: string;
  body?: object;
  headers?: Readonly<Record<string, string>>;
  /** How long the daemon may be silent. Absent for streams, whose limit the transport chooses. */
  silenceMs?: number;
  signal?: AbortSignal | undefined;
}

export interface Incoming {
  status: number;
  /** Throws a CodedError if the connection is lost or aborted. */
  chunks: AsyncIterable<Uint8Array>;
  close(): void;
}

export interface Transport {
  /** Resolves with the response head, whatever the status. Rejects with a CodedError if there is no response. */
  send(order: Order): Promise<Incoming>;
}
