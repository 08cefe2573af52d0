// Which addresses a fetch of the model may connect to: public ones. Everything that could be a service of this machine, of its
// network or of its cloud is refused.
import { BlockList, isIP } from "node:net";

const V4: readonly [string, number][] = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  // Also the metadata services of clouds.
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
];
/** Within 2000::/3, the only public range: tunnels, which carry IPv4 addresses, and documentation. */
const V6: readonly [string, number][] = [
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["3fff::", 20],
];

/** An IPv4 address in an IPv6 one (`::ffff:127.0.0.1`, NAT64) is not public, whatever it is. */
export function isPublicAddress(address: string): boolean {
  const version = isIP(address);
  if (version === 4) return !buildList(V4, "ipv4").check(address, "ipv4");
  if (version !== 6 || address.includes("%")) return false;
  return (
    buildList([["2000::", 3]], "ipv6").check(address, "ipv6") && !buildList(V6, "ipv6").check(address, "ipv6")
  );
}

function buildList(ranges: readonly [string, number][], family: "ipv4" | "ipv6"): BlockList {
  const list = new BlockList();
  for (const [network, prefix] of ranges) list.addSubnet(network, prefix, family);
  return list;
}
