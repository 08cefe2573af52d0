// Whether changes are shown side by side, kept in this browser.

const KEPT = "blemees.changes.split";

export function readSplit(): boolean {
  try {
    return localStorage.getItem(KEPT) === "yes";
  } catch {
    // Storage may be blocked.
    return false;
  }
}

export function keepSplit(isSplit: boolean): void {
  try {
    localStorage.setItem(KEPT, isSplit ? "yes" : "no");
  } catch {
    // Lasts until the tab is closed.
  }
}
