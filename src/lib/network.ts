import { BlockList, isIP } from "node:net";

/** Whether the text is an IP address or a network such as `10.0.0.0/8`. A length of 0 would match every address and is rejected. */
export function isNetwork(text: string): boolean {
  const [address = "", length, ...rest] = text.split("/");
  const version = isIP(address);
  if (version === 0 || rest.length > 0) return false;
  return length === undefined || (/^[1-9]\d{0,2}$/.test(length) && Number(length) <= (version === 4 ? 32 : 128));
}

/** Matches addresses against networks. */
export function createNetworkMatcher(networks: readonly string[]): (address: string) => boolean {
  const list = new BlockList();
  for (const network of networks) {
    const [address = "", length] = network.split("/");
    const family = isIP(address) === 4 ? "ipv4" : "ipv6";
    list.addSubnet(address, length === undefined ? (family === "ipv4" ? 32 : 128) : Number(length), family);
  }
  return (address) => {
    // Dual-stack sockets report IPv4 addresses as IPv4-mapped IPv6.
    const plain = address.replace(/^::ffff:(?=\d+\.)/i, "");
    return list.check(plain, isIP(plain) === 4 ? "ipv4" : "ipv6");
  };
}

/** Groups IPv6 addresses by /64, which one host usually owns. */
export function presentNetwork(address: string): string {
  const [plain = ""] = address.split("%");
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(plain)?.[1];
  if (mapped !== undefined) return mapped;
  if (!plain.includes(":")) return plain;
  const [head = "", tail] = plain.split("::");
  const first = head === "" ? [] : head.split(":");
  const last = tail === undefined || tail === "" ? [] : tail.split(":");
  const zeros =
    tail === undefined ? [] : Array.from({ length: Math.max(0, 8 - first.length - last.length) }, () => "0");
  const groups = [...first, ...zeros, ...last].slice(0, 4).map((group) => group.toLowerCase().replace(/^0+(?=.)/, ""));
  return `${groups.join(":")}::/64`;
}
