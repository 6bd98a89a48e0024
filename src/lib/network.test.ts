import { expect, test } from "vitest";
import { createNetworkMatcher, isNetwork, presentNetwork } from "./network.ts";

test.each(["10.0.0.1", "10.0.0.0/8", "::1", "2001:db8::/32", "255.255.255.255/32", "::/128"])(
  "%s is a network",
  (text) => {
    expect(isNetwork(text)).toBe(true);
  },
);

test.each(["", "10.0.0", "10.0.0.0/33", "10.0.0.0/0", "::/0", "::1/129", "10.0.0.0/8/8", "10.0.0.0/08", "host", "1/2"])(
  "%s is none",
  (text) => {
    expect(isNetwork(text)).toBe(false);
  },
);

test("an address matches its networks, also as IPv4-mapped IPv6", () => {
  const matches = createNetworkMatcher(["10.1.0.0/16", "192.0.2.7", "2001:db8::/32"]);
  expect(["10.1.255.1", "192.0.2.7", "::ffff:10.1.0.9", "2001:db8:1::5"].map(matches)).toEqual([
    true,
    true,
    true,
    true,
  ]);
  expect(["10.2.0.1", "192.0.2.8", "::ffff:10.2.0.9", "2001:db9::1", "nonsense"].map(matches)).toEqual([
    false,
    false,
    false,
    false,
    false,
  ]);
});

test.each([
  ["192.0.2.7", "192.0.2.7"],
  ["::ffff:192.0.2.7", "192.0.2.7"],
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
  ["2001:db8:1:2::9", "2001:db8:1:2::/64"],
  ["2001:DB8:0001:2::", "2001:db8:1:2::/64"],
  ["2001:db8::9", "2001:db8:0:0::/64"],
  ["fe80::1%eth0", "fe80:0:0:0::/64"],
  ["::1", "0:0:0:0::/64"],
])("%s counts as %s", (address, network) => {
  expect(presentNetwork(address)).toBe(network);
});
