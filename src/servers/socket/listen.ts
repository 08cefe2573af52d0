// The Unix socket: binds it privately, accepts clients, and detects HTTP by the first byte.
import { chmodSync, lstatSync, unlinkSync } from "node:fs";
import { connect, createServer, type Server, type Socket } from "node:net";
import { CodedError, readErrno } from "../../base/coded-error.ts";
import { makeLocalId } from "../../base/id.ts";
import { readStartTime } from "../../base/lineage.ts";
import type { Log } from "../../base/log.ts";
import { StallDetector } from "../../base/outbox.ts";
import { RateLimit } from "../../base/rate-limit.ts";
import { checkSocketPath, prepareSocketDirectory } from "../../base/socket-path.ts";
import { defined } from "../../base/values.ts";
import { type Caller, shutdownError } from "../../sessions/index.ts";
import type { HttpDoor } from "../http/index.ts";
import type { Listening, ServerContext } from "../types.ts";
import { blemees1 } from "./blemees1.ts";
import { blemees2 } from "./blemees2.ts";
import { Connection, type ConnectionLimits } from "./connection.ts";
import { loadPeerLookup, type Peer } from "./peer.ts";

const BACKLOG = 1024;
const STALL_CHECK_MS = 1_000;
const PEER_LOOKUP_MS = 30;
/** No pid is reused sooner. A client that only says hello does not wait for this, and has often left by then. */
const PEER_START_MS = 100;
/** During shutdown, a client that sends nothing gets its `daemon_shutdown` after this. */
const SILENT_SHUTDOWN_MS = 250;
/** Accept failures are logged this often: they come in bursts. */
const LOG_EVERY_MS = 10_000;
const DIALECTS = new Map([blemees2, blemees1].map((dialect) => [dialect.protocol, dialect]));

export interface SocketOptions extends ConnectionLimits {
  path: string;
  maxConnections: number;
  slowConsumerMs: number;
  helloTimeoutMs: number;
  /** What is more urgent than finding out which processes the clients are; they are not asked to wait for it. */
  after?: Promise<unknown> | undefined;
}

export interface SocketListening extends Listening {
  /** Bytes that clients have not read yet, over all connections. */
  waitingBytes(): number;
}

/** `started`: read soon after the pid, because pids are reused. */
type KnownPeer = Peer & { started?: number };

/** Without `http`, every client is expected to send frames. */
export async function listenOnSocket(
  options: SocketOptions,
  context: ServerContext,
  http?: HttpDoor,
): Promise<SocketListening> {
  const { hub, identify, log } = context;
  /** All open sockets, including those being closed. */
  const sockets = new Set<Socket>();
  /** Clients that speak frames. */
  const connections = new Map<Socket, Connection>();
  /** Sockets that have sent nothing yet, each with a function that refuses it. */
  const silent = new Map<Socket, (error: CodedError) => void>();
  const peers = new WeakMap<Socket, KnownPeer>();
  let findPeer: ((socket: Socket) => Peer) | undefined;
  const early: (() => void)[] = [];
  /** Connections identify owners of sessions, so their ids are never used again. */
  const origin = makeLocalId();
  let count = 0;
  let isDismissed = false;

  const server = createServer({ allowHalfOpen: true }, (socket) => {
    if (sockets.size >= options.maxConnections) {
      log.warn("connection.refused", { connections: sockets.size });
      socket.destroy();
      return;
    }
    const id = `${origin}-${++count}`;
    sockets.add(socket);
    introduce(socket, id);
    socket.on("error", ({ message }) => log.debug("connection.error", { connection_id: id, message }));
    socket.once("close", () => {
      sockets.delete(socket);
      silent.delete(socket);
      clearTimeout(helloTimer);
      logClose();
    });
    let isLogged = false;
    const logClose = (): void => {
      if (!isLogged) log.info("connection.close", { connection_id: id });
      isLogged = true;
    };
    const open = (): Connection => {
      silent.delete(socket);
      socket.off("data", detectProtocol).off("end", hangUp);
      const connection = new Connection({
        id,
        socket,
        context,
        dialects: DIALECTS,
        limits: options,
        siblings: () => connections.size + silent.size,
        peer: () => getPeer(socket),
        caller: () => identifyPeer(socket, "socket"),
        greeted: () => {
          isGreeted = true;
          setTimeout(() => {
            if (!socket.destroyed) getStartedPeer(socket);
          }, PEER_START_MS).unref();
        },
        closed: (gone) => {
          connections.delete(socket);
          hub.detach(gone);
          logClose();
        },
      });
      connections.set(socket, connection);
      return connection;
    };
    const refuse = (error: CodedError): void =>
      (silent.has(socket) ? open() : connections.get(socket))?.fail(error);
    const detectProtocol = (first: Buffer): void => {
      if (http !== undefined && isHttp(first)) {
        silent.delete(socket);
        socket.off("end", hangUp);
        clearTimeout(helloTimer);
        http.take(socket, first, () => identifyPeer(socket, "http"));
        return;
      }
      if (isDismissed) refuse(shutdownError());
      else open().read(first);
    };
    const hangUp = (): void => void socket.end();
    const seconds = options.helloTimeoutMs / 1000;
    const late = new CodedError("invalid_message", `no blemeesd.hello within ${seconds} s`);
    let isGreeted = false;
    const helloTimer = setTimeout(() => {
      afterReading(() => {
        if (!isGreeted) refuse(late);
      });
    }, options.helloTimeoutMs);
    silent.set(socket, refuse);
    socket.once("data", detectProtocol).once("end", hangUp);
    if (isDismissed) refuseIfSilent(socket);
  });

  function refuseIfSilent(socket: Socket): void {
    const refuse = (): void => silent.get(socket)?.(shutdownError());
    setTimeout(() => afterReading(refuse), SILENT_SHUTDOWN_MS).unref();
  }

  function getPeer(socket: Socket): KnownPeer {
    findPeer ??= loadPeerLookup();
    const known = peers.get(socket);
    if (known !== undefined) return known;
    const peer = findPeer(socket);
    peers.set(socket, peer);
    return peer;
  }

  /** Later than the pid, because it takes longer. */
  function getStartedPeer(socket: Socket): KnownPeer {
    const peer = getPeer(socket);
    if (peer.pid !== undefined) peer.started ??= readStartTime(peer.pid);
    return peer;
  }

  function identifyPeer(socket: Socket, wire: "socket" | "http"): Caller {
    const { pid, started } = getStartedPeer(socket);
    if (pid === undefined) return identify({ wire });
    return identify({ processes: [{ pid, ...defined({ started }) }], wire });
  }

  /** Logs the client's process, once the lookup is loaded. */
  function introduce(socket: Socket, connection_id: string): void {
    const write = (): void => {
      const { pid, uid } = getPeer(socket);
      log.info("connection.open", { connection_id, peer_pid: pid, peer_uid: uid });
    };
    if (findPeer === undefined) early.push(write);
    else write();
  }

  const inode = await bind(server, options.path, log);
  // No file descriptors left: this client is refused, all others continue.
  const failures = new RateLimit(1, LOG_EVERY_MS);
  server.on("error", ({ message }) => {
    if (failures.allow(Date.now())) log.warn("connection.accept_failed", { message });
  });
  // Loading the native helper takes some milliseconds: neither the bind nor the first hello should wait for it.
  const findPeers = (): void => {
    findPeer ??= loadPeerLookup();
    for (const write of early.splice(0)) write();
  };
  setTimeout(() => {
    if (options.after === undefined) findPeers();
    else void options.after.then(findPeers);
  }, PEER_LOOKUP_MS);
  const stalls = new StallDetector(options.slowConsumerMs / STALL_CHECK_MS, options.outboxBytes);
  const stallTimer = setInterval(() => {
    for (const [socket, connection] of connections) {
      if (!stalls.isStalled(socket)) continue;
      log.warn("connection.slow_consumer", { connection_id: connection.id });
      const message = `nothing was read for ${options.slowConsumerMs / 1000} s`;
      connection.fail(new CodedError("slow_consumer", message));
    }
  }, STALL_CHECK_MS);
  stallTimer.unref();

  return {
    waitingBytes: () => [...sockets].reduce((sum, socket) => sum + socket.writableLength, 0),
    dismiss() {
      isDismissed = true;
      http?.dismiss();
      for (const connection of [...connections.values()]) connection.fail(shutdownError());
      for (const socket of silent.keys()) refuseIfSilent(socket);
    },
    async close() {
      clearInterval(stallTimer);
      await http?.close();
      // A client that was sent `daemon_shutdown` and does not hang up is not waited for.
      for (const socket of sockets) destroyWhenSent(socket);
      // Closing also removes the socket, by its path: not if it was removed and another daemon has bound its own there.
      if (readInode(options.path) !== inode) {
        server.unref();
        return;
      }
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
    },
  };
}

/**
 * Runs `act` once everything that has arrived was read. A process that was stopped, or had no CPU, runs its timers first: a
 * client whose request is waiting to be read must not be refused for its silence.
 */
function afterReading(act: () => void): void {
  setImmediate(act);
}

function destroyWhenSent(socket: Socket): void {
  if (socket.writableFinished) socket.destroy();
  else socket.once("finish", () => socket.destroy());
}

function isHttp(first: Buffer): boolean {
  const byte = first[0] ?? 0;
  return byte >= 0x41 && byte <= 0x5a; // A to Z
}

async function bind(server: Server, path: string, log: Log): Promise<number | undefined> {
  checkSocketPath(path);
  prepareSocketDirectory(path);
  await removeStale(path, log);
  const umask = process.umask(0o177); // never accessible to others, even briefly
  try {
    await new Promise<void>((resolve, reject) => {
      const fail = (error: Error): void => reject(readErrno(error) === "EADDRINUSE" ? inUse(path) : error);
      server.once("error", fail);
      server.listen({ path, backlog: BACKLOG }, () => {
        server.off("error", fail);
        resolve();
      });
    });
  } finally {
    process.umask(umask);
  }
  chmodSync(path, 0o600);
  return readInode(path);
}

/** Removes the socket of a dead daemon. Never touches a file that is not ours, not a socket, or in use. */
async function removeStale(path: string, log: Log): Promise<void> {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return;
  const uid = process.getuid?.();
  if (!found.isSocket())
    throw new CodedError("internal", `${path} exists and is not a socket; remove it or pass --socket`);
  if (uid !== undefined && found.uid !== uid) {
    throw new CodedError("internal", `${path} belongs to another user (uid ${found.uid}); pass --socket`);
  }
  if (await isAlive(path)) throw inUse(path);
  removeSocket(path);
  log.info("daemon.removed_stale_socket", { socket_path: path });
}

function inUse(path: string): CodedError {
  return new CodedError(
    "internal",
    `another blemeesd is running on ${path}: open its dashboard with \`sm web\`, stop it, or pass --socket`,
  );
}

function isAlive(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = connect(path);
    probe.once("connect", () => {
      probe.destroy();
      resolve(true);
    });
    // A full backlog also means that a daemon is listening.
    probe.once("error", (error) => resolve(readErrno(error) === "EAGAIN"));
  });
}

function readInode(path: string): number | undefined {
  return lstatSync(path, { throwIfNoEntry: false })?.ino;
}

function removeSocket(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if (readErrno(error) !== "ENOENT") throw error;
  }
}
