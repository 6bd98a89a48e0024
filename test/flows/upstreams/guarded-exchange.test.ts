import { expect, onTestFinished, test } from "vitest";
import {
  createGuardedClient,
  type GuardedRequest,
  readWhole,
  timeoutsOf,
} from "../../../src/platform/net/guarded-client.ts";
import { createMediaClient } from "../../../src/providers/media-client.ts";
import { startRecordingServer } from "../../harness/servers/recording-server.ts";
import { waitUntil } from "../../harness/wait-until.ts";

async function openStage(answer: Parameters<typeof startRecordingServer>[0]) {
  const server = await startRecordingServer(answer);
  const client = createGuardedClient({ allowsPrivate: true });
  onTestFinished(async () => {
    await client.close();
    await server[Symbol.asyncDispose]();
  });
  const send = ({ path = "/", ...changes }: Partial<GuardedRequest> & { path?: string } = {}) =>
    client.send(server.url + path, {
      method: "GET",
      headers: {},
      body: null,
      timeouts: timeoutsOf(20_000),
      signal: new AbortController().signal,
      connection: "kept",
      ...changes,
    });
  return { server, client, send };
}

/** Only media providers limit the number of connections of each kind. */
async function openMediaStage(answer: Parameters<typeof startRecordingServer>[0]) {
  const server = await startRecordingServer(answer);
  const authHeader = { name: "authorization", prefix: "Key " };
  const client = createMediaClient({ origin: server.url, headers: {}, auth: authHeader, connectionsMax: 1 });
  onTestFinished(async () => {
    await client.close();
    await server[Symbol.asyncDispose]();
  });
  const { signal } = new AbortController();
  const usual = { method: "GET", path: "/", body: null, apiKey: "sk", timeoutMs: 20_000, signal } as const;
  return { server, client, usual };
}

test("a discarded answer frees its slot, and so does one that is read in part", async () => {
  const { server, client, usual } = await openMediaStage((_, response) => void response.write("without end"));
  for (let round = 0; round < 3; round += 1) {
    (await client.send(usual)).drop();
    for await (const _ of (await client.send(usual)).read({ bytesMax: 100 })) break;
    expect(await client.sendOnce(usual, async (answer) => answer.drop())).toMatchObject({ kind: "answered" });
  }
  expect(server.requests).toHaveLength(9);
});

test("if all slots are taken, a poll waits for one until its time-out, and a submission is refused", async () => {
  const { server, client, usual } = await openMediaStage(() => {});
  const stop = new AbortController();
  const first = client.ask({ ...usual, signal: stop.signal, bytesMax: 100 });
  await expect(client.ask({ ...usual, timeoutMs: 50, bytesMax: 100 })).rejects.toMatchObject({ kind: "timeout" });
  const waiting = client.ask({ ...usual, path: "/second", bytesMax: 100 });
  const failures = Promise.allSettled([first, waiting]);
  const submission = client.sendOnce({ ...usual, path: "/submission" }, async () => {});
  const refused = client.sendOnce({ ...usual, path: "/refused" }, async () => {});
  await expect(refused).rejects.toMatchObject({ kind: "overloaded" });
  stop.abort(new Error("Nobody waits."));
  await waitUntil("the second question", () => server.requests.some(({ path }) => path === "/second"));
  await client.close();
  expect(await submission).toMatchObject({ kind: "ambiguous", error: { kind: "unreachable" } });
  expect(await failures).toMatchObject([{ reason: { message: "Nobody waits." } }, { reason: { kind: "unreachable" } }]);
  expect(server.requests.map(({ path }) => path).sort()).toEqual(["/", "/second", "/submission"]);
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

test("a non-repeatable request reports when it is being sent, and one with an unreadable body is never sent", async () => {
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
  await expect(send({ ...manner, body: write(2) })).rejects.toMatchObject({ reason: "unreachable" });
  expect(sentCount).toBe(2);
  expect(server.requests).toHaveLength(2);
});

test("after the end, nothing is sent", async () => {
  const { server, client, send } = await openStage((_, response) => void response.end("ok"));
  await client.close();
  for (const connection of ["kept", "fresh"] as const) {
    await expect(send({ connection })).rejects.toMatchObject({ name: "GuardedFetchError", reason: "unreachable" });
  }
  expect(server.requests).toHaveLength(0);
});
