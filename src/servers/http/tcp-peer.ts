// The client at the other end of a loopback connection: the processes that hold its socket.
import type { Socket } from "node:net";
import { findSocketOwners } from "../../base/tcp-owner.ts";
import { defined } from "../../base/values.ts";
import type { Caller, IdentifyPeer } from "../../sessions/index.ts";

export async function identifyTcpPeer(socket: Socket, identify: IdentifyPeer): Promise<Caller> {
  const { remotePort, localPort } = socket;
  if (remotePort === undefined || localPort === undefined) return identify({ processes: [], wire: "http" });
  const { processes, hidden } = await findSocketOwners({ port: remotePort, otherPort: localPort });
  const found = defined({ processes: processes?.map((pid) => ({ pid })), hidden });
  return identify({ ...found, wire: "http" });
}
