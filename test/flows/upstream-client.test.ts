import { expect, onTestFinished, test } from "vitest";
import { ExchangeError, readWhole } from "../../src/platform/net/open-exchange.ts";
import { type ClientRequest, createUpstreamClient } from "../../src/platform/net/upstream-client.ts";
import { startRecordingServer } from "../harness/recording-server.ts";
import { waitUntil } from "../harness/wait-until.ts";

async function openStage(answer: Parameters<typeof startRecordingServer>[0]) {
  const server = await startRecordingServer(answer);
  const client = createUpstreamClient({ origin: server.url, connectionsMax: 1, connectTimeoutMs: 5000 });
  onTestFinished(async () => {
    await client.close();
    await server[Symbol.asyncDispose]();
  });
  const send = (changes: Partial<ClientRequest> = {}) =>
    client.send({
      method: "GET",
      path: "/",
      headers: {},
      body: null,
      timeouts: { headMs: 20_000, idleMs: 20_000, totalMs: 20_000 },
      signal: new AbortController().signal,
      connection: "kept",
      ...changes,
    });
  return { server, client, send };
}

test("an answer that nobody wants gives its connection back", async () => {
  const { server, send } = await openStage(({ path }, response) => {
    response.write("a beginning");
    if (path !== "/endless") response.end();
  });
  for (const connection of ["kept", "fresh"] as const) {
    const answer = await send({ path: "/endless", connection });
    answer.drop();
    expect(String(await readWhole(await send({ connection }), { bytesMax: 100 }))).toBe("a beginning");
  }
  expect(server.requests).toHaveLength(4);
});

test("an answer that is read in part gives its connection back", async () => {
  const { send } = await openStage((_, response) => void response.write("without end"));
  for (let round = 0; round < 3; round += 1) {
    const answer = await send();
    for await (const _ of answer.read({ bytesMax: 100 })) break;
  }
});

test.for(["kept", "fresh"] as const)("a signal ends a %s exchange with its reason, at any time", async (connection) => {
  const { server, send } = await openStage(({ path }, response) => {
    if (path === "/body") response.write("half");
  });
  const reason = new Error("Nobody waits.");
  await expect(send({ connection, signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  expect(server.requests).toHaveLength(0);
  const first = new AbortController();
  const head = send({ connection, signal: first.signal });
  await waitUntil("the request", () => server.requests.length === 1);
  first.abort(reason);
  await expect(head).rejects.toBe(reason);
  const second = new AbortController();
  const answer = await send({ path: "/body", connection, signal: second.signal });
  const reading = readWhole(answer, { bytesMax: 100 });
  second.abort(reason);
  await expect(reading).rejects.toBe(reason);
});

test("a request that must not be sent twice tells when it is on its way, and one that cannot be read never is", async () => {
  const { server, send } = await openStage((_, response) => void response.end("ok"));
  let sentCount = 0;
  const onSent = (): void => {
    sentCount += 1;
  };
  async function* write(count: number): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < 3; at += 1) {
      if (at === count) throw new Error("It cannot be read.");
      yield Buffer.from(`part${at} `);
    }
  }
  const manner = { method: "POST", connection: "fresh", onSent } as const;
  await readWhole(await send({ ...manner, body: "text" }), { bytesMax: 10 });
  expect(sentCount).toBe(1);
  await readWhole(await send({ ...manner, body: write(9) }), { bytesMax: 10 });
  expect(sentCount).toBe(2);
  expect(server.requests.map(({ body }) => String(body))).toEqual(["text", "part0 part1 part2 "]);
  await expect(send({ ...manner, body: write(2) })).rejects.toBeInstanceOf(ExchangeError);
  expect(sentCount).toBe(2);
  expect(server.requests).toHaveLength(2);
});

test("after the end, nothing is sent", async () => {
  const { server, client, send } = await openStage((_, response) => void response.end("ok"));
  await client.close();
  for (const connection of ["kept", "fresh"] as const) {
    await expect(send({ connection })).rejects.toMatchObject({ name: "ExchangeError", kind: "unreachable" });
  }
  expect(server.requests).toHaveLength(0);
});
