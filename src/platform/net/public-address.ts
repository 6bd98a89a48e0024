import { isIP } from "node:net";
import { createNetworkMatcher } from "../../lib/network.ts";

/** IPv4 networks that are not public (IANA's special-purpose registry). */
const specialNetworks4 = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  // Includes cloud metadata services.
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/4",
  "240.0.0.0/4",
  // Azure's platform service, reachable only from inside.
  "168.63.129.16/32",
];

/** Global unicast IPv6 and NAT64. */
const openNetworks6 = ["2000::/3", "64:ff9b::/96"];

/** Exceptions within the open networks. Teredo and 6to4 can tunnel anywhere. */
const specialNetworks6 = [
  "2001::/23",
  "2001:db8::/32",
  "2002::/16",
  "3fff::/20",
  // NAT64 addresses that embed a special IPv4 address.
  ...specialNetworks4.map((network) => {
    const [address = "", length = "32"] = network.split("/");
    return `64:ff9b::${address}/${96 + Number(length)}`;
  }),
];

const isSpecial4 = createNetworkMatcher(specialNetworks4);
const isOpen6 = createNetworkMatcher(openNetworks6);
const isSpecial6 = createNetworkMatcher(specialNetworks6);

/** Whether a literal address is public. Anything else is not. */
export function isPublicAddress(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return !isSpecial4(address);
    case 6:
      // An address with a zone is link-local.
      return isOpen6(address) && !isSpecial6(address) && !address.includes("%");
    default:
      return false;
  }
}
