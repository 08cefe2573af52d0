// The rule of DESIGN R10 without zod: loading zod costs the store thread 70 ms and 11 MB. A test holds this equal
// to `SessionId` of protocol/session.ts.

export function isSessionId(text: string): boolean {
  return /^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/.test(text);
}
