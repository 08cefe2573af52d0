// Stores the last choices in this browser, if allowed.
const KEY = "blemees.spawn";

export function readKept(): string | null {
  try {
    return localStorage.getItem(KEY);
  } catch {
    // Storage may be blocked; the form starts empty.
    return null;
  }
}

export function writeKept(text: string): void {
  try {
    localStorage.setItem(KEY, text);
  } catch {
    // Full or blocked: nothing is remembered.
  }
}
