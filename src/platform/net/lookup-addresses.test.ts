import { createSocket } from "node:dgram";
import { once } from "node:events";
import { expect, onTestFinished, test } from "vitest";
import { waitUntil } from "../../../test/harness/wait-until.ts";
import { createPublicLookup, lookupSystemAddresses } from "./lookup-addresses.ts";

const addressType = { ipv4: 1, ipv6: 28 };
const questions: string[] = [];

/** A DNS server on loopback that resolves a few names and never responds for one. */
async function startNameServer(): Promise<string> {
  const socket = createSocket("udp4");
  socket.on("message", (query, peer) => {
    const end = query.indexOf(0, 12);
    const [, host = ""] = /^.(.*).example$/s.exec(query.toString("latin1", 12, end)) ?? [];
    const type = query.readUInt16BE(end + 1);
    questions.push(host);
    if (host === "silent") return;
    const data =
      type === addressType.ipv4 && host !== "nobody"
        ? Buffer.from([93, 184, 216, 34])
        : type === addressType.ipv6 && host === "both"
          ? Buffer.from("26060000000000000000000000000001", "hex")
          : null;
    socket.send(answerQuery(query.subarray(0, end + 5), type, data), peer.port, peer.address);
  });
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  onTestFinished(() => void socket.close());
  return `127.0.0.1:${socket.address().port}`;
}

function answerQuery(query: Buffer, type: number, data: Buffer | null): Buffer {
  const head = Buffer.from(query);
  head.writeUInt16BE(0x8180, 2);
  head.writeUInt16BE(data === null ? 0 : 1, 6);
  // Don't echo the query's additional records.
  head.writeUInt16BE(0, 10);
  if (data === null) return head;
  const record = Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 60, 0, data.length]);
  return Buffer.concat([head, record, data]);
}

test("returns all IPv4 and IPv6 addresses of a name", async () => {
  const lookup = createPublicLookup({ servers: [await startNameServer()] });
  const { signal } = new AbortController();
  expect(await lookup("both.example", signal)).toEqual(["93.184.216.34", "2606::1"]);
  expect(await lookup("one.example", signal)).toEqual(["93.184.216.34"]);
  await expect(lookup("nobody.example", signal)).rejects.toThrow("The name has no addresses.");
});

test("a lookup ends as soon as its caller aborts", async () => {
  const lookup = createPublicLookup({ servers: [await startNameServer()] });
  const [patient, gone] = [new AbortController(), new AbortController()];
  const failures: string[] = [];
  const first = lookup("silent.example", patient.signal).catch(() => failures.push("patient"));
  await waitUntil("the question", () => questions.includes("silent"));
  const second = lookup("silent.example", gone.signal).catch(() => failures.push("gone"));
  gone.abort();
  // The patient lookup began earlier, so it would also time out earlier.
  await Promise.race([first, second]);
  expect(failures).toEqual(["gone"]);
  patient.abort();
  await first;
});

test("the system resolver resolves localhost", async () => {
  const addresses = await lookupSystemAddresses("localhost");
  expect(["127.0.0.1", "::1"]).toContain(addresses[0]);
});
