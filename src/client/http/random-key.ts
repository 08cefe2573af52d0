// Keys that make a request safe to repeat.

/** `crypto.randomUUID` exists only in secure contexts; a proxy may serve the dashboard over plain HTTP. */
export function makeRandomKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, "0"),
  ).join("");
}

export interface Keyed {
  idempotency_key?: string | undefined;
}

export function withKey({ idempotency_key = makeRandomKey(), ...body }: Keyed): Keyed {
  return { ...body, idempotency_key };
}
