// Watches what a command uses while it runs, through the /proc of its pid namespace: the sum of its memory, for which there
// is no limit that the kernel enforces for everybody, and the number of its processes.
import { readdirSync } from "node:fs";
import { tryReadText } from "../../base/proc.ts";
import type { Limits } from "./limits.ts";

export type Exceeded = "processes" | "memory";

const INTERVAL_MS = 250;
/** Near the limit forks fail; then the command is ended, because programs retry for a long time. */
const NEARLY = 0.98;
/** Sums of memory while processes end. */
const MEASURES = 5;
/** Processes of the sandbox itself that a control group counts, and we do not: bubblewrap, the pipe's reader, one to spare. */
const OUR_PROCESSES = 3;

export class Watch {
  readonly #limits: Limits;
  readonly #findPid: () => string | undefined;
  readonly #timer: NodeJS.Timeout;

  /** `findPid`: the first process of the namespace, once it exists. `end` is called at most once. */
  constructor(limits: Limits, findPid: () => string | undefined, end: (why: Exceeded) => void) {
    this.#limits = limits;
    this.#findPid = findPid;
    this.#timer = setInterval(() => {
      const why = this.#check();
      if (why === undefined) return;
      this.close();
      end(why);
    }, INTERVAL_MS);
    this.#timer.unref();
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #check(): Exceeded | undefined {
    const pid = this.#findPid();
    if (pid === undefined) return undefined;
    const list = () => listProcesses(`/proc/${pid}/root/proc`);
    const { processes, memoryBytes } = this.#limits;
    if (list().length >= Math.min(processes * NEARLY, processes - OUR_PROCESSES)) return "processes";
    return usesMoreThan(memoryBytes, { list, resident: readResident, share: readShare })
      ? "memory"
      : undefined;
  }
}

/** How the memory of processes is read. */
export interface Meter {
  list(): readonly string[];
  /** Pages that processes share count for each of them. Zero for one that has ended. */
  resident(place: string): number;
  /** Exact, and slower. */
  share(place: string): number;
}

/**
 * When a process ends, the shares of the others grow: those read before and after it add up to more than there is.
 * Such a sum is taken again, a few times.
 */
export function usesMoreThan(bytes: number, { list, resident, share }: Meter): boolean {
  if (sum(list(), resident) <= bytes) return false;
  for (let attempt = 0; attempt < MEASURES; attempt += 1) {
    const places = list().filter((place) => resident(place) > 0);
    if (sum(places, share) <= bytes) return false;
    if (places.every((place) => resident(place) > 0)) return true;
  }
  return true;
}

function listProcesses(proc: string): string[] {
  try {
    return readdirSync(proc)
      .filter((name) => /^\d+$/.test(name))
      .map((name) => `${proc}/${name}`);
  } catch {
    return []; // It has ended.
  }
}

function sum(places: readonly string[], read: (place: string) => number): number {
  return places.reduce((total, place) => total + read(place), 0);
}

/** Without files that are mapped. */
function readResident(place: string): number {
  return readSize(`${place}/status`, /^RssAnon:\s+(\d+)/m) ?? 0;
}

/** The process's share of its pages. */
function readShare(place: string): number {
  return readSize(`${place}/smaps_rollup`, /^Pss_Anon:\s+(\d+)/m) ?? readResident(place);
}

function readSize(path: string, kilobytes: RegExp): number | undefined {
  const found = kilobytes.exec(tryReadText(path) ?? "")?.[1];
  return found === undefined ? undefined : Number(found) * 1024;
}
