// The client's process at the other end of a Unix socket, from the kernel (SO_PEERCRED, LOCAL_PEERPID). If it is not
// available, the fields are absent, never guessed.
import { createRequire } from "node:module";
import type { Socket } from "node:net";

export interface Peer {
  pid?: number;
  uid?: number;
}

type GetSockOpt = (fd: number, level: number, name: number, value: Buffer, length: Buffer) => number;

const LINUX = { level: 1, name: 17, bytes: 12 }; // SOL_SOCKET, SO_PEERCRED: struct ucred { pid, uid, gid }
const DARWIN = { level: 0, name: 2, bytes: 4 }; // SOL_LOCAL, LOCAL_PEERPID

/** Loads the native helper. Call it once, after the socket is bound, because loading takes some milliseconds. */
export function loadPeerLookup(): (socket: Socket) => Peer {
  const option = process.platform === "linux" ? LINUX : process.platform === "darwin" ? DARWIN : undefined;
  const getsockopt = option === undefined ? undefined : loadGetSockOpt();
  if (option === undefined || getsockopt === undefined) return () => ({});
  return (socket) => {
    const fd = (socket as { _handle?: { fd?: number } })._handle?.fd;
    if (fd === undefined || fd < 0) return {};
    const value = Buffer.alloc(option.bytes);
    const length = Buffer.alloc(4);
    length.writeUInt32LE(option.bytes);
    if (getsockopt(fd, option.level, option.name, value, length) !== 0) return {};
    const pid = value.readInt32LE(0);
    return {
      ...(pid > 0 ? { pid } : {}),
      ...(option === LINUX ? { uid: value.readUInt32LE(4) } : {}),
    };
  };
}

function loadGetSockOpt(): GetSockOpt | undefined {
  try {
    const koffi = createRequire(import.meta.url)("koffi") as typeof import("koffi");
    return koffi.load(null).func("int getsockopt(int, int, int, uint8_t*, uint8_t*)") as GetSockOpt;
  } catch {
    return undefined; // no native package for this platform
  }
}
