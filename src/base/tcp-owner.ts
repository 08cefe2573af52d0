// The processes that hold one end of a loopback TCP connection. Linux: the socket's inode from /proc/net, then the descriptors
// of this user's processes.
import { readlinkSync } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { mapBounded } from "./map-bounded.ts";
import { tryReadText } from "./proc.ts";

export interface TcpEnd {
  /** Of the end whose owner is wanted. */
  port: number;
  /** Of the other end. */
  otherPort: number;
}

const PARALLEL_READS = 16;
const ESTABLISHED = "01";

/** Empty: the end is closed. Undefined: the system does not say, or another user's process holds it. */
export async function findSocketOwners(end: TcpEnd): Promise<number[] | undefined> {
  const tables = ["/proc/net/tcp", "/proc/net/tcp6"].map(tryReadText).filter((text) => text !== undefined);
  if (tables.length === 0) return undefined;
  const inodes = tables.flatMap((table) => findInodes(table, end)).filter((inode) => inode !== "0");
  if (inodes.length === 0) return [];
  const owners = await findHolders(new Set(inodes.map((inode) => `socket:[${inode}]`)));
  return owners.length === 0 ? undefined : owners;
}

/**
 * Several, if connections from several loopback addresses have the same ports: a process must not pass for another one by
 * choosing them. A row: `sl local_address rem_address st tx:rx tr:tm retrnsmt uid timeout inode …`, ports in hex.
 */
export function findInodes(table: string, { port, otherPort }: TcpEnd): string[] {
  return table.split("\n").flatMap((line) => {
    const [, local = "", remote = "", state, , , , , , inode = "0"] = line.trim().split(/\s+/);
    const isWanted = state === ESTABLISHED && toPort(local) === port && toPort(remote) === otherPort;
    return isWanted ? [inode] : [];
  });
}

function toPort(address: string): number {
  return Number.parseInt(address.slice(address.lastIndexOf(":") + 1), 16);
}

async function findHolders(links: ReadonlySet<string>): Promise<number[]> {
  const uid = process.getuid?.();
  const names = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  // The newest first: most clients have just been started.
  const found = await mapBounded(names.toReversed(), PARALLEL_READS, async (name) => {
    try {
      if ((await stat(`/proc/${name}`)).uid !== uid) return undefined;
      const fds = await readdir(`/proc/${name}/fd`);
      return fds.some((fd) => links.has(readLink(`/proc/${name}/fd/${fd}`) ?? "")) ? Number(name) : undefined;
    } catch {
      return undefined; // gone, or not ours to read
    }
  });
  return found.filter((pid) => pid !== undefined);
}

function readLink(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined; // closed meanwhile
  }
}
