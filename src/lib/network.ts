import { BlockList, isIP } from "node:net";

/** Whether the text is an IP address or a network such as `10.0.0.0/8`. A length of 0 would be everybody: refused. */
export function isNetwork(text: string): boolean {
  const [address = "", length, ...rest] = text.split("/");
  const version = isIP(address);
  if (version === 0 || rest.length > 0) return false;
  return length === undefined || (/^[1-9]\d{0,2}$/.test(length) && Number(length) <= (version === 4 ? 32 : 128));
}

/** Tells whether an address lies in one of the networks. */
export function createNetworkMatcher(networks: readonly string[]): (address: string) => boolean {
  const list = new BlockList();
  for (const network of networks) {
    const [address = "", length] = network.split("/");
    const family = isIP(address) === 4 ? "ipv4" : "ipv6";
    list.addSubnet(address, length === undefined ? (family === "ipv4" ? 32 : 128) : Number(length), family);
  }
  return (address) => {
    // A socket that takes both families shows IPv4 addresses inside IPv6 ones.
    const plain = address.replace(/^::ffff:(?=\d+\.)/i, "");
    return list.check(plain, isIP(plain) === 4 ? "ipv4" : "ipv6");
  };
}
