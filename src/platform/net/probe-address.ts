import { connect as connectTcp, isIP, type Socket } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { connect as connectTls } from "node:tls";
import { lookupSystemAddresses } from "./lookup-addresses.ts";

/** The steps of opening a connection, as far as it got: the last one failed, or all succeeded. */
export type AddressStep = { step: "dns" | "connection" | "tls"; message: string } & (
  | { isOk: true }
  /** The system's error code, or `timeout`. */
  | { isOk: false; code: string }
);

type Peer = { host: string; port: number; timeoutMs: number };

/** Opens a connection to an operator's own upstream, to find which step fails. Sends no request. */
export async function probeAddress(address: URL, { timeoutMs }: { timeoutMs: number }): Promise<AddressStep[]> {
  const host = address.hostname.replace(/^\[|\]$/g, "");
  const port = Number(address.port) || (address.protocol === "https:" ? 443 : 80);
  const peer = { host, port, timeoutMs };
  const steps: AddressStep[] = [];
  try {
    if (isIP(host) === 0) {
      const addresses = await within(timeoutMs, lookupSystemAddresses(host));
      steps.push({ step: "dns", isOk: true, message: `${host} is ${addresses.slice(0, 3).join(", ")}` });
    }
  } catch (error) {
    return [...steps, { step: "dns", isOk: false, ...describe(error) }];
  }
  let socket: Socket | null = null;
  try {
    socket = await openSocket(peer);
    steps.push({ step: "connection", isOk: true, message: `port ${port} accepts connections` });
    if (address.protocol !== "https:") return steps;
    steps.push({ step: "tls", isOk: true, message: await handshake(socket, peer) });
    return steps;
  } catch (error) {
    return [...steps, { step: socket === null ? "connection" : "tls", isOk: false, ...describe(error) }];
  } finally {
    socket?.destroy();
  }
}

async function openSocket({ host, port, timeoutMs }: Peer): Promise<Socket> {
  const socket = connectTcp({ host, port });
  try {
    await within(timeoutMs, settle(socket, "connect"));
    return socket;
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

async function handshake(socket: Socket, { host, timeoutMs }: Peer): Promise<string> {
  const secure = connectTls({ socket, ...(isIP(host) === 0 ? { servername: host } : { host }) });
  try {
    await within(timeoutMs, settle(secure, "secureConnect"));
    const { valid_to: validTo } = secure.getPeerCertificate();
    return `${secure.getProtocol()}, certificate valid until ${new Date(validTo).toISOString().slice(0, 10)}`;
  } finally {
    // A destroyed connection may still emit an error.
    secure.on("error", () => {}).destroy();
  }
}

function settle(socket: Socket, event: "connect" | "secureConnect"): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  socket.once(event, resolve).once("error", reject);
  socket.once("close", () => reject(Object.assign(new Error("The connection was closed."), { code: "ECONNRESET" })));
  return promise;
}

async function within<T>(timeoutMs: number, work: Promise<T>): Promise<T> {
  const late = new AbortController();
  const deadline = wait(timeoutMs, null, { signal: late.signal }).then(() => {
    throw Object.assign(new Error(`No answer within ${timeoutMs / 1000} s.`), { code: "timeout" });
  });
  try {
    return await Promise.race([work, deadline]);
  } finally {
    late.abort();
    deadline.catch(() => {});
    work.catch(() => {});
  }
}

function describe(error: unknown): { message: string; code: string } {
  const message = error instanceof Error ? error.message : String(error);
  const code = error instanceof Error && "code" in error ? String(error.code) : "unknown";
  return { message, code };
}
