import { connect, createServer } from "node:net";
import { networkInterfaces } from "node:os";
import { expect, test } from "vitest";
import { startGateway } from "../harness/test-gateway.ts";

const hasIpv6 = Object.values(networkInterfaces()).some((list) => list?.some(({ address }) => address === "::1"));
const addresses = hasIpv6 ? ["127.0.0.1", "::1"] : ["127.0.0.1"];

async function ask(host: string, port: number, bytes: string): Promise<string> {
  const socket = connect(port, host);
  socket.end(bytes);
  let received = "";
  for await (const piece of socket) received += String(piece);
  return received;
}

test("localhost is served on both of its addresses with the same limits, errors and ids", async () => {
  await using gateway = await startGateway({ settings: { host: "localhost" } });
  for (const host of addresses) {
    const served = await ask(host, gateway.port, "GET /healthz HTTP/1.1\r\nconnection: close\r\n\r\n");
    expect(served).toMatch(/^HTTP\/1\.1 200 .*x-request-id: req_/s);
    expect(await ask(host, gateway.port, "no http\r\n\r\n")).toContain('"code":"malformed_request"');
    const long = `GET / HTTP/1.1\r\nx: ${"y".repeat(20_000)}\r\n\r\n`;
    expect(await ask(host, gateway.port, long)).toContain('"code":"headers_too_large"');
  }
});

test("a port that is busy on one address of localhost is busy", async () => {
  const other = createServer().listen(0, addresses.at(-1));
  await new Promise((listening) => other.once("listening", listening));
  const address = other.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  await expect(startGateway({ settings: { host: "localhost", port } })).rejects.toThrow(`Port ${port} is in use`);
  other.close();
});

test("a host that is not this machine's is named", async () => {
  await expect(startGateway({ settings: { host: "192.0.2.1" } })).rejects.toThrow("192.0.2.1 is not an address");
});
