// The client at the other end of a loopback connection: the processes that hold its socket.
import type { Socket } from "node:net";
import { findSocketOwners } from "../../base/tcp-owner.ts";
import type { Caller, IdentifyPeer } from "../../sessions/index.ts";

export async function identifyTcpPeer(socket: Socket, identify: IdentifyPeer): Promise<Caller> {
  const { remotePort, localPort } = socket;
  if (remotePort === undefined || localPort === undefined) return identify({ processes: [], wire: "http" });
  const owners = await findSocketOwners({ port: remotePort, otherPort: localPort });
  if (owners === undefined) return identify({ wire: "http" });
  return identify({ processes: owners.map((pid) => ({ pid })), wire: "http" });
}
