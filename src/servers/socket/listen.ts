// The Unix socket: who may bind it, its permissions, and the table of connections.
import { randomUUID } from "node:crypto";
import { chmodSync, lstatSync, unlinkSync } from "node:fs";
import { connect, createServer, type Server, type Socket } from "node:net";
import { CodedError, errnoOf } from "../../base/coded-error.ts";
import type { Log } from "../../base/log.ts";
import { RateLimit } from "../../base/rate-limit.ts";
import { checkSocketPath, prepareSocketDirectory } from "../../base/socket-path.ts";
import type { HttpDoor } from "../http/index.ts";
import type { Listening, ServerContext } from "../types.ts";
import { blemees1 } from "./blemees1.ts";
import { blemees2 } from "./blemees2.ts";
import { Connection, type ConnectionLimits } from "./connection.ts";
import { loadPeerLookup, type Peer } from "./peer.ts";

const BACKLOG = 1024;
const STALL_CHECK_MS = 1_000;
const PEER_LOOKUP_MS = 30;
/** A client that comes while we stop and says nothing gets its good-bye after this. */
const GOOD_BYE_MS = 250;
/** That clients cannot be accepted is told so often: it happens to many at once. */
const TELL_EVERY_MS = 10_000;
const DIALECTS = new Map([blemees2, blemees1].map((dialect) => [dialect.protocol, dialect]));

export interface SocketOptions extends ConnectionLimits {
  path: string;
  maxConnections: number;
  slowConsumerMs: number;
}

export interface SocketListening extends Listening {
  /** Bytes that clients have not read yet, over all connections. */
  waitingBytes(): number;
}

/** Without `http` every client is taken for one that speaks lines. */
export async function listenOnSocket(
  options: SocketOptions,
  context: ServerContext,
  http?: HttpDoor,
): Promise<SocketListening> {
  const { hub, log } = context;
  /** Every open socket, whatever it speaks, also while it is being closed. */
  const sockets = new Set<Socket>();
  const connections = new Set<Connection>();
  /** Those that have said nothing yet: what they speak is not known. */
  const unheard = new Set<Connection>();
  let httpConnections = 0;
  let peerOf: ((socket: Socket) => Peer) | undefined;
  const early: Connection[] = [];
  let isDismissed = false;

  const server = createServer({ allowHalfOpen: true }, (socket) => {
    if (connections.size + httpConnections >= options.maxConnections) {
      log.warn("connection.refused", { connections: connections.size + httpConnections });
      socket.destroy();
      return;
    }
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
    const connection = new Connection({
      id: randomUUID(), // whole: who owns a session is told by it
      socket,
      context,
      dialects: DIALECTS,
      limits: options,
      siblings: () => connections.size,
      peer: () => {
        peerOf ??= loadPeerLookup();
        return peerOf(socket);
      },
      closed: (gone) => {
        unheard.delete(gone);
        if (!connections.delete(gone)) return;
        hub.detach(gone);
        log.info("connection.close", { connection_id: gone.id });
      },
    });
    connections.add(connection);
    if (peerOf === undefined) early.push(connection);
    else connection.introduce();
    if (http !== undefined) sniff(connection, socket, http);
    else if (isDismissed) connection.fail(goodBye());
  });

  /** The first byte tells: a frame begins with `{`, an HTTP request with the capital letter of its method. */
  function sniff(connection: Connection, socket: Socket, door: HttpDoor): void {
    unheard.add(connection);
    socket.prependOnceListener("data", (first: Buffer) => {
      unheard.delete(connection);
      if (connection.isGone) return;
      if (isHttp(first)) handOver(connection, first, door);
      else if (isDismissed) connection.fail(goodBye());
    });
    if (isDismissed) failSoon(connection);
  }

  /** One that says nothing is not kept for long when we go. */
  function failSoon(connection: Connection): void {
    setTimeout(() => connection.fail(goodBye()), GOOD_BYE_MS).unref();
  }

  function handOver(connection: Connection, first: Buffer, door: HttpDoor): void {
    const socket = connection.release();
    connections.delete(connection);
    httpConnections += 1;
    socket.once("close", () => {
      httpConnections -= 1;
      log.info("connection.close", { connection_id: connection.id });
    });
    door.take(socket, first);
  }

  const inode = await bind(server, options.path, log);
  // No file descriptors left: that client is refused, everybody else goes on.
  const telling = new RateLimit(1, TELL_EVERY_MS);
  server.on("error", ({ message }) => {
    if (telling.allow(Date.now())) log.warn("connection.accept_failed", { message });
  });
  // Loading the native helper takes some milliseconds: not before bind, and not in the first hello's way either.
  setTimeout(() => {
    peerOf ??= loadPeerLookup();
    for (const connection of early.splice(0)) connection.introduce();
  }, PEER_LOOKUP_MS);
  const stallTimer = setInterval(() => dropStalled(connections, options.slowConsumerMs, log), STALL_CHECK_MS);
  stallTimer.unref();

  return {
    waitingBytes: () => [...sockets].reduce((sum, socket) => sum + socket.writableLength, 0),
    dismiss() {
      isDismissed = true;
      http?.dismiss();
      for (const connection of [...connections]) {
        if (unheard.has(connection)) failSoon(connection);
        else connection.fail(goodBye());
      }
    },
    async close() {
      clearInterval(stallTimer);
      // Unless somebody has removed ours and another daemon has put its own there.
      if (inodeOf(options.path) === inode) removeSocket(options.path);
      await http?.close();
      // Everybody has been sent the good-bye, or soon will be: a client that has it and does not hang up is not waited for.
      for (const socket of sockets) destroyWhenSent(socket);
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
    },
  };
}

function destroyWhenSent(socket: Socket): void {
  if (socket.writableFinished) socket.destroy();
  else socket.once("finish", () => socket.destroy());
}

function isHttp(first: Buffer): boolean {
  const byte = first[0] ?? 0;
  return byte >= 0x41 && byte <= 0x5a; // A to Z
}

function goodBye(): CodedError {
  return new CodedError("daemon_shutdown", "the daemon is shutting down");
}

function dropStalled(connections: Iterable<Connection>, afterMs: number, log: Log): void {
  const nowMs = Date.now();
  for (const connection of connections) {
    if (connection.stalledMs(nowMs) < afterMs) continue;
    log.warn("connection.slow_consumer", { connection_id: connection.id });
    connection.fail(new CodedError("slow_consumer", `nothing was read for ${afterMs / 1000} s`));
  }
}

async function bind(server: Server, path: string, log: Log): Promise<number | undefined> {
  checkSocketPath(path);
  prepareSocketDirectory(path);
  await removeStale(path, log);
  const umask = process.umask(0o177); // never open to others, not even for a moment
  try {
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen({ path, backlog: BACKLOG }, () => {
        server.off("error", reject);
        resolve();
      });
    });
  } finally {
    process.umask(umask);
  }
  chmodSync(path, 0o600);
  return inodeOf(path);
}

/** Spec §7, §9.6: never touch what is not ours, not a socket, or alive. */
async function removeStale(path: string, log: Log): Promise<void> {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return;
  const uid = process.getuid?.();
  if (!found.isSocket())
    throw new CodedError("internal", `${path} exists and is not a socket; remove it or pass --socket`);
  if (uid !== undefined && found.uid !== uid) {
    throw new CodedError("internal", `${path} belongs to another user (uid ${found.uid}); pass --socket`);
  }
  if (await isAlive(path)) {
    throw new CodedError(
      "internal",
      `another blemeesd is running on ${path}: \`sm web\` opens its dashboard. To start this one, stop that or pass --socket`,
    );
  }
  removeSocket(path);
  log.info("daemon.removed_stale_socket", { socket_path: path });
}

function isAlive(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = connect(path);
    probe.once("connect", () => {
      probe.destroy();
      resolve(true);
    });
    // A full backlog also means that somebody listens there.
    probe.once("error", (error) => resolve(errnoOf(error) === "EAGAIN"));
  });
}

function inodeOf(path: string): number | undefined {
  return lstatSync(path, { throwIfNoEntry: false })?.ino;
}

function removeSocket(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if (errnoOf(error) !== "ENOENT") throw error;
  }
}
