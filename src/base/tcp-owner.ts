// The processes that hold one end of a loopback TCP connection. Linux: the socket's inode from /proc/net, then the descriptors
// of this user's processes.
import { readFileSync, readlinkSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { readErrno } from "./coded-error.ts";
import { mapBounded } from "./map-bounded.ts";
import { createProcSource } from "./process-source.ts";

export interface TcpEnd {
  /** Of the end whose owner is wanted. */
  port: number;
  /** Of the other end. */
  otherPort: number;
}

const PARALLEL_READS = 16;
const ESTABLISHED = "01";

export interface SocketOwners {
  /** Empty: the end is closed. Undefined: the system does not say, or a process that hides it holds it. */
  processes?: readonly number[];
  /** Then: processes of this user that do not show their descriptors. Absent if another user's process holds it. */
  hidden?: readonly number[];
}

/** `listOpen`: what a process has open, as in `/proc/PID/fd`; throws if it does not show it. */
export async function findSocketOwners(end: TcpEnd, listOpen = readDescriptors): Promise<SocketOwners> {
  const sockets = readSockets(end);
  if (sockets === undefined) return {};
  if (sockets.length === 0) return { processes: [] };
  const { holders, hidden } = await findHolders(
    new Set(sockets.map(({ inode }) => `socket:[${inode}]`)),
    listOpen,
  );
  if (holders.length > 0) return { processes: holders };
  // It may have been closed meanwhile.
  if (readSockets(end)?.length === 0) return { processes: [] };
  return sockets.some(({ uid }) => uid === process.getuid?.()) ? { hidden } : {};
}

function readSockets(end: TcpEnd): TcpSocket[] | undefined {
  const tables = ["/proc/net/tcp", "/proc/net/tcp6"].map(readText).filter((text) => text !== undefined);
  if (tables.length === 0) return undefined;
  return tables.flatMap((table) => findSockets(table, end)).filter(({ inode }) => inode !== "0");
}

interface TcpSocket {
  inode: string;
  uid: number;
}

/**
 * Several, if connections from several loopback addresses have the same ports: a process must not pass for another one by
 * choosing them. A row: `sl local_address rem_address st tx:rx tr:tm retrnsmt uid timeout inode …`, ports in hex.
 */
export function findSockets(table: string, { port, otherPort }: TcpEnd): TcpSocket[] {
  return table.split("\n").flatMap((line) => {
    const [, local = "", remote = "", state, , , , uid = "", , inode = "0"] = line.trim().split(/\s+/);
    const isWanted = state === ESTABLISHED && toPort(local) === port && toPort(remote) === otherPort;
    return isWanted ? [{ inode, uid: Number(uid) }] : [];
  });
}

function toPort(address: string): number {
  return Number.parseInt(address.slice(address.lastIndexOf(":") + 1), 16);
}

async function findHolders(
  links: ReadonlySet<string>,
  listOpen: typeof readDescriptors,
): Promise<{ holders: readonly number[]; hidden: readonly number[] }> {
  const source = createProcSource();
  const names = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const hidden: number[] = [];
  // The newest first: most clients have just been started.
  const found = await mapBounded(names.toReversed(), PARALLEL_READS, async (name) => {
    const pid = Number(name);
    try {
      return (await listOpen(pid)).some((open) => links.has(open)) ? pid : undefined;
    } catch (error) {
      // A process that hides its descriptors belongs to root in /proc; its status says whose it is.
      const isRefused = readErrno(error) === "EACCES" || readErrno(error) === "EPERM";
      if (isRefused && source.readUser(pid) === process.getuid?.()) hidden.push(pid);
      return undefined; // gone, or another user's
    }
  });
  return { holders: found.filter((pid) => pid !== undefined), hidden };
}

async function readDescriptors(pid: number): Promise<string[]> {
  const fds = await readdir(`/proc/${pid}/fd`);
  return fds.map((fd) => readLink(`/proc/${pid}/fd/${fd}`) ?? "");
}

function readLink(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined; // closed meanwhile
  }
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
