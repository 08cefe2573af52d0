// The session list by projects: each with its sessions and their sums. Pure; shared by the terminal UI and the dashboard.
import { defined } from "../../base/values.ts";
import type { FleetOrder, FleetRow } from "./fleet.ts";
import { isInState } from "./fleet-filter.ts";

export interface FleetGroup {
  /** The project's directory; empty: sessions without one. */
  key: string;
  /** The last part of the directory, with more of it if several projects share that. */
  title: string;
  rows: FleetRow[];
  waiting: number;
  working: number;
  failed: number;
  /** Absent: no agent reported any. */
  cost_usd?: number;
}

/**
 * The rows by project. In the order of the rows, that of the first of each group, or by title if the rows are in the
 * order of their creation: then no group moves.
 */
export function groupFleetRows(rows: readonly FleetRow[], order: FleetOrder): FleetGroup[] {
  const groups = new Map<string, FleetRow[]>();
  for (const row of rows) {
    const key = row.project ?? "";
    const own = groups.get(key);
    if (own === undefined) groups.set(key, [row]);
    else own.push(row);
  }
  const titles = nameProjects([...groups.keys()]);
  const found = [...groups].map(([key, own]) => toGroup(key, titles.get(key) ?? key, own));
  return order === "created" ? found.sort(compareTitles) : found;
}

/** The shortest ends of the directories that tell them apart. */
export function nameProjects(directories: readonly string[]): Map<string, string> {
  const byName = new Map<string, string[]>();
  for (const directory of directories) {
    const name = takeEnd(directory, 1);
    byName.set(name, [...(byName.get(name) ?? []), directory]);
  }
  const titles = new Map<string, string>();
  for (const [name, twins] of byName) {
    for (const directory of twins) {
      let title = name;
      const isShared = (): boolean => twins.some((twin) => twin !== directory && twin.endsWith(`/${title}`));
      for (let size = 2; isShared() && title !== takeEnd(directory, size); size += 1)
        title = takeEnd(directory, size);
      titles.set(directory, directory === "" ? "no directory" : title || "/");
    }
  }
  return titles;
}

function takeEnd(directory: string, parts: number): string {
  const all = directory.split("/").filter((part) => part !== "");
  return all.slice(-parts).join("/");
}

function toGroup(key: string, title: string, rows: FleetRow[]): FleetGroup {
  const count = (state: "waiting" | "working" | "failed"): number =>
    rows.filter(({ session }) => isInState(session, state)).length;
  const costs = rows.flatMap(({ session: { cost_usd } }) => (cost_usd === undefined ? [] : [cost_usd]));
  const cost_usd = costs.length === 0 ? undefined : costs.reduce((sum, one) => sum + one, 0);
  return {
    ...{ key, title, rows },
    ...{ waiting: count("waiting"), working: count("working"), failed: count("failed") },
    ...defined({ cost_usd }),
  };
}

function compareTitles(a: FleetGroup, b: FleetGroup): number {
  if ((a.key === "") !== (b.key === "")) return a.key === "" ? 1 : -1;
  return a.title.localeCompare(b.title) || (a.key < b.key ? -1 : 1);
}
