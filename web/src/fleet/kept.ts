// The order of the list, kept in this browser, if allowed.
import { ARRANGEMENTS, type Arrangement } from "./arrange.ts";

const KEY = "blemees.list";

export function readArrangement(): Arrangement {
  try {
    const kept = localStorage.getItem(KEY);
    return ARRANGEMENTS.find((one) => one === kept) ?? "state";
  } catch {
    // Storage may be blocked.
    return "state";
  }
}

export function writeArrangement(arrangement: Arrangement): void {
  try {
    localStorage.setItem(KEY, arrangement);
  } catch {
    // Lasts until the page is closed.
  }
}
