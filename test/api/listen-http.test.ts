import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { networkInterfaces, tmpdir } from "node:os";
import { join } from "node:path";
import { type ConnectionOptions, connect as connectTls, type TLSSocket } from "node:tls";
import { expect, test } from "vitest";
import { createSelfSignedCertificate } from "../harness/servers/self-signed-certificate.ts";
import { startGateway } from "../harness/test-gateway.ts";
import { waitUntil } from "../harness/wait-until.ts";

const hasIpv6 = Object.values(networkInterfaces()).some((list) => list?.some(({ address }) => address === "::1"));
const addresses = hasIpv6 ? ["127.0.0.1", "::1"] : ["127.0.0.1"];

async function openRaw(port: number): Promise<Socket> {
  const socket = connect(port, "127.0.0.1").on("error", () => {});
  await once(socket, "connect");
  return socket;
}

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

test("a port that is taken on one address of localhost is taken", async () => {
  const other = createServer().listen(0, addresses.at(-1));
  await new Promise((listening) => other.once("listening", listening));
  const address = other.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  await expect(startGateway({ settings: { host: "localhost", port } })).rejects.toThrow(`Port ${port} is in use`);
  other.close();
});

test("the error names a host that is not on this machine", async () => {
  await expect(startGateway({ settings: { host: "192.0.2.1" } })).rejects.toThrow("192.0.2.1 is not an address");
});

/** Certificate files for localhost, and the settings that name them. */
function writeCertificate() {
  const folder = mkdtempSync(join(tmpdir(), "sluice-tls-"));
  const settings = {
    ...{ host: "localhost", site_url: "https://localhost" },
    ...{ tls_cert_file: join(folder, "tls.crt"), tls_key_file: join(folder, "tls.key") },
  };
  const replace = ({ cert, key } = createSelfSignedCertificate("localhost")): string => {
    writeFileSync(settings.tls_cert_file, cert);
    writeFileSync(settings.tls_key_file, key);
    return cert;
  };
  return { settings, replace, [Symbol.dispose]: () => rmSync(folder, { recursive: true }) };
}

async function handshake(port: number, options: ConnectionOptions): Promise<TLSSocket> {
  const socket = connectTls({ host: "127.0.0.1", servername: "localhost", port, ...options });
  await new Promise((settle, fail) => socket.once("secureConnect", settle).once("error", fail));
  return socket;
}

async function askOn(socket: TLSSocket, path: string): Promise<string> {
  socket.write(`GET ${path} HTTP/1.1\r\n\r\n`);
  const [answer] = await once(socket, "data");
  return String(answer);
}

test("with a certificate the gateway serves HTTP/1.1 over TLS 1.2 and later only", async () => {
  using certificate = writeCertificate();
  const ca = certificate.replace();
  await using gateway = await startGateway({ settings: certificate.settings });
  for (const host of addresses) {
    for (const version of ["TLSv1.2", "TLSv1.3"] as const) {
      const options = { host, ca, minVersion: version, maxVersion: version, ALPNProtocols: ["h2", "http/1.1"] };
      const socket = await handshake(gateway.port, options);
      expect(await askOn(socket, "/healthz")).toMatch(/^HTTP\/1\.1 200 .*x-request-id: req_/s);
      expect(socket).toMatchObject({ alpnProtocol: "http/1.1", authorized: true });
      socket.destroy();
    }
  }
  const page = await handshake(gateway.port, { ca });
  expect(await askOn(page, "/")).toContain("strict-transport-security: max-age=31536000");
  page.destroy();
  const old = { ca, minVersion: "TLSv1.1", maxVersion: "TLSv1.1", ciphers: "DEFAULT@SECLEVEL=0" } as const;
  await expect(handshake(gateway.port, old)).rejects.toThrow(/protocol version/);
  expect(await ask("127.0.0.1", gateway.port, "GET /healthz HTTP/1.1\r\n\r\n").catch(() => "")).not.toContain("HTTP");
  expect(gateway.logs.filter(({ error_code: code }) => code === "malformed_request")).toEqual([]);
});

test("a new certificate is used without a restart, and an invalid one is logged once and ignored", async () => {
  using certificate = writeCertificate();
  const first = certificate.replace();
  await using gateway = await startGateway({ settings: certificate.settings });
  const open = await handshake(gateway.port, { ca: first });
  const isTrusted = async (ca: string): Promise<boolean> => {
    try {
      (await handshake(gateway.port, { ca })).destroy();
      return true;
    } catch {
      return false;
    }
  };
  const listErrors = () => gateway.logs.filter(({ level }) => level === "error");

  const second = certificate.replace();
  await waitUntil("the second certificate is in use", () => isTrusted(second));
  expect(await isTrusted(first)).toBe(false);
  expect(await askOn(open, "/healthz")).toContain("200 OK");
  open.destroy();

  const { cert } = createSelfSignedCertificate("localhost");
  certificate.replace({ ...createSelfSignedCertificate("localhost"), cert });
  await waitUntil("the wrong pair to be logged", () => listErrors().length > 0);
  expect(await isTrusted(second)).toBe(true);

  const third = certificate.replace();
  await waitUntil("the third certificate is in use", () => isTrusted(third));
  expect(listErrors()).toMatchObject([
    { reason: expect.stringMatching(/^Cannot use the certificate .*: key values mismatch/) },
  ]);
});

test("a certificate with the wrong key stops the start with a clear error", async () => {
  using certificate = writeCertificate();
  certificate.replace({ ...createSelfSignedCertificate("localhost"), cert: "no certificate" });
  await expect(startGateway({ settings: certificate.settings })).rejects.toThrow(
    /Cannot use the certificate .*tls\.crt with the key/,
  );
});

test("connections without a request, also during the TLS handshake, do not delay shutdown", async () => {
  using certificate = writeCertificate();
  const ca = certificate.replace();
  const gateway = await startGateway({ settings: { ...certificate.settings, shutdown_timeout_ms: 500 } });
  const [unused, silent] = await Promise.all([handshake(gateway.port, { ca }), openRaw(gateway.port)]);
  const ends = Promise.all([once(unused, "close"), once(silent, "close")]);
  silent.write(Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00]));
  await gateway[Symbol.asyncDispose]();
  await ends;
});
