// Validates session ids like `SessionId` of protocol/session.ts but without zod, which costs the store thread 70 ms and
// 11 MB; a test keeps them equal.

export function isSessionId(text: string): boolean {
  return /^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/.test(text);
}
