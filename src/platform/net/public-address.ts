import { isIP } from "node:net";
import { createNetworkMatcher } from "../../lib/network.ts";

/** Everything in IPv4 that is not an address of some server on the Internet (IANA's registry of special purposes). */
const specialNetworks4 = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  // Also where clouds tell a machine its own secrets.
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
  // Public by its number, but a service of the cloud that is seen from inside only.
  "168.63.129.16/32",
];

/** All that is given out in IPv6, and the IPv4 Internet as networks without IPv4 see it. */
const openNetworks6 = ["2000::/3", "64:ff9b::/96"];

/** What of the open networks is special all the same. Old tunnels (Teredo, 6to4) can lead anywhere: none is open. */
const specialNetworks6 = [
  "2001::/23",
  "2001:db8::/32",
  "2002::/16",
  "3fff::/20",
  // An address inside of which a special one of IPv4 hides.
  ...specialNetworks4.map((network) => {
    const [address = "", length = "32"] = network.split("/");
    return `64:ff9b::${address}/${96 + Number(length)}`;
  }),
];

const isSpecial4 = createNetworkMatcher(specialNetworks4);
const isOpen6 = createNetworkMatcher(openNetworks6);
const isSpecial6 = createNetworkMatcher(specialNetworks6);

/** Whether a literal address is one of a server on the Internet. What is no address is not public either. */
export function isPublicAddress(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return !isSpecial4(address);
    case 6:
      // With a zone, an address is one of a neighbour, whatever its number.
      return isOpen6(address) && !isSpecial6(address) && !address.includes("%");
    default:
      return false;
  }
}
