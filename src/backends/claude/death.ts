// Did claude die because it cannot log in? Spec §9.2.

/** They count only in the last words of a claude that dies: "401" alone may stand in any log line. */
const AUTH_PATTERNS = [
  "OAuth token expired",
  "Please run claude auth",
  "Session authentication failed",
  "401",
];
const LAST_WORDS = 5;

export function diedOfAuth(tail: readonly string[]): boolean {
  return tail.slice(-LAST_WORDS).some((line) => AUTH_PATTERNS.some((pattern) => line.includes(pattern)));
}
