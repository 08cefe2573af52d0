// Recognizes a claude that died because it is not logged in.

/** Looked for only in the last lines of stderr: "401" alone may appear in any log line. */
const AUTH_PATTERNS = [
  "OAuth token expired",
  "Please run claude auth",
  "Session authentication failed",
  "401",
];
const LAST_LINES = 5;

export function isAuthFailure(tail: readonly string[]): boolean {
  return tail.slice(-LAST_LINES).some((line) => AUTH_PATTERNS.some((pattern) => line.includes(pattern)));
}
