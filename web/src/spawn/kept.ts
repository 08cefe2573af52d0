// Where the form keeps the last choices: in this browser, if it lets us.
const KEY = "blemees.spawn";

export function readKept(): string | null {
  try {
    return localStorage.getItem(KEY);
  } catch {
    // Storage may be forbidden; the form begins empty then.
    return null;
  }
}

export function writeKept(text: string): void {
  try {
    localStorage.setItem(KEY, text);
  } catch {
    // Full or forbidden: they are typed again next time.
  }
}
