// A promise with the functions that settle it, as Promise.withResolvers of Node 22.

export interface Deferred<T> {
  readonly promise: Promise<T>;
  resolve(value: T): void;
  reject(error: Error): void;
}

export function createDeferred<T>(): Deferred<T> {
  let settle: Pick<Deferred<T>, "resolve" | "reject"> = { resolve: () => undefined, reject: () => undefined };
  const promise = new Promise<T>((resolve, reject) => {
    settle = { resolve, reject };
  });
  return { promise, ...settle };
}
