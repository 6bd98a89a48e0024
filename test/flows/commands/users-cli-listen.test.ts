// @module-tag extended
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { Webhook } from "standardwebhooks";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { recordEvent } from "../../../src/features/webhooks/index.ts";
import { type RecordedRequest, startRecordingServer } from "../../harness/servers/recording-server.ts";
import { startWebhookReceiver } from "../../harness/servers/webhook-receiver.ts";
import type { TaskCaller, TaskGateway } from "../../harness/tasks/task-gateway.ts";
import { buildUsersCli, openUsersCli, type UsersCli } from "../../harness/users-cli/users-cli.ts";
import { openCliGateway } from "../../harness/users-cli/users-cli-gateway.ts";
import { waitUntil } from "../../harness/wait-until.ts";

let stage: TaskGateway;
let site: string;
let build: ReturnType<typeof buildUsersCli>;
let caller: TaskCaller;
let cli: UsersCli;
let environment: Record<string, string>;

beforeAll(async () => {
  build = buildUsersCli();
  ({ stage, site } = await openCliGateway());
});
afterAll(async () => {
  await stage[Symbol.asyncDispose]();
  build[Symbol.dispose]();
});
beforeEach(async () => {
  caller = await stage.createCaller();
  cli = openUsersCli(build.program);
  environment = { SLUICE_API_KEY: caller.key, SLUICE_SITE: site };
});
afterEach(() => {
  expect(cli.seen()).not.toContain(caller.key);
  cli[Symbol.dispose]();
});

async function record(type: "task.succeeded" | "task.failed" = "task.succeeded"): Promise<string> {
  const { ids, clock } = stage.gateway.parts;
  const id = ids.next("evt");
  const event = {
    id,
    accountId: caller.accountId,
    type,
    createdAt: clock.now(),
    data: { output: [] },
    callbackUrl: null,
  };
  await stage.database.transaction().execute((tx) => recordEvent(tx, event, { ids }));
  return id;
}

function listIds(deliveries: readonly RecordedRequest[]): unknown[] {
  return deliveries.map(({ headers }) => headers["webhook-id"]);
}

function countSessions(): Promise<unknown[]> {
  return stage.database
    .selectFrom("webhook_sessions")
    .select("id")
    .where("account_id", "=", caller.accountId)
    .execute();
}

test("events are forwarded, with a signature that the official library accepts, until Ctrl-C", async () => {
  await using receiver = await startWebhookReceiver();
  const { stdout } = await cli.run(["webhooks", "listen", "--print-secret"], { environment });
  expect(await countSessions()).toEqual([]);
  const listening = cli.start(["webhooks", "listen", "--forward-to", `${receiver.url}hook`], { environment });
  await listening.sees(/Listening and forwarding/);
  const { id } = await caller.submitImage("sandbox-image", "Told of");
  const [request] = await receiver.waitForDeliveries(1);
  if (request === undefined) throw new Error("Nothing arrived.");
  const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
  const event = new Webhook(stdout.trim()).verify(request.body.toString(), headers);
  expect(event).toMatchObject({ type: "task.succeeded", data: { task_id: id, output: [{ type: "image" }] } });
  expect([request.method, request.path, headers["content-type"]]).toEqual(["POST", "/hook", "application/json"]);
  await listening.sees(/^task\.succeeded {2}evt_\w+ {2}→ 200$/m);
  expect(listening.stderr()).not.toContain("whsec_");
  listening.kill("SIGINT");
  expect((await listening.ended).exitCode).toBe(130);
  expect(await countSessions()).toEqual([]);
});

test("a receiver that fails or is down is reported, and listening goes on; only the selected events are forwarded", async () => {
  await using receiver = await startWebhookReceiver();
  receiver.answerWith(500);
  const words = ["webhooks", "listen", "--forward-to", receiver.url, "--event", "task.failed", "--json"];
  const listening = cli.start(words, { environment });
  await listening.sees(/"listening"/);
  await record("task.succeeded");
  const ids = [await record("task.failed"), await record("task.failed")];
  expect(listIds(await receiver.waitForDeliveries(2))).toEqual(ids);
  await waitUntil("both lines", () => listening.stdout().trim().split("\n").length === 3);
  const lines = listening
    .stdout()
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(lines.slice(1)).toMatchObject([
    { id: ids[0], outcome: { status: 500 } },
    { id: ids[1], outcome: { status: 200 } },
  ]);
  await receiver[Symbol.asyncDispose]();
  const lost = await record("task.failed");
  await listening.sees(new RegExp(`${lost}.*cannot connect`));
  listening.kill("SIGINT");
  await listening.ended;
});

test("events during a broken connection are forwarded afterwards, and none twice", async () => {
  await using receiver = await startWebhookReceiver();
  await using line = await openLine(Number(new URL(site).port));
  const elsewhere = { ...environment, SLUICE_SITE: line.url };
  const listening = cli.start(["webhooks", "listen", "--forward-to", receiver.url], { environment: elsewhere });
  await listening.sees(/Listening/);
  const before = [await record(), await record()];
  await receiver.waitForDeliveries(2);
  line.cut();
  await listening.sees(/Connecting again/);
  const meanwhile = [await record(), await record()];
  line.mend();
  await receiver.waitForDeliveries(4);
  const after = await record();
  await receiver.waitForDeliveries(5);
  expect(listIds(receiver.deliveries)).toEqual([...before, ...meanwhile, after]);
  listening.kill("SIGINT");
  await listening.ended;
});

test("a reconnecting listener sends the id of the last event it saw", async () => {
  const event = { headers: { "webhook-id": "evt_1" }, body: "{}" };
  await using server = await startRecordingServer(({ path }, response) => {
    if (!path.endsWith("/events")) response.end(JSON.stringify({ id: "whs_1", secret: "whsec_" }));
    else response.end(`event: task.failed\nid: evt_1\ndata: ${JSON.stringify(event)}\n\n`);
  });
  const listening = cli.start(["webhooks", "listen"], { environment: { ...environment, SLUICE_SITE: server.url } });
  const listStreams = () => server.requests.filter(({ path }) => path.endsWith("/events"));
  await waitUntil("the second stream", () => listStreams().length >= 2);
  listening.kill("SIGINT");
  const { stdout } = await listening.ended;
  expect(
    listStreams()
      .map(({ headers }) => headers["last-event-id"])
      .slice(0, 2),
  ).toEqual([undefined, "evt_1"]);
  expect(stdout).toBe("task.failed  evt_1\n");
});

/** A TCP proxy to a local port that can be cut. */
async function openLine(port: number) {
  const sockets = new Set<Socket>();
  let isCut = false;
  const server = createServer((socket) => {
    sockets.add(socket);
    if (isCut) socket.destroy();
    const onward = connect(port, "127.0.0.1");
    for (const end of [socket, onward])
      end.on("error", () => {}).on("close", () => [socket, onward].map((one) => one.destroy()));
    socket.pipe(onward).pipe(socket);
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const cut = (): void => {
    isCut = true;
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut,
    mend: () => {
      isCut = false;
    },
    async [Symbol.asyncDispose]() {
      cut();
      await new Promise((closed) => server.close(closed));
    },
  };
}

test("while it listens, dramas can be created", async () => {
  const drama = [
    "drama",
    "--title",
    "A",
    "--script",
    "ANNA\nHello.",
    "--stage",
    "script",
    "-m",
    "sandbox-drama",
    "--no-wait",
  ];
  expect((await cli.run(drama, { environment })).exitCode).toBe(1);
  const listening = cli.start(["webhooks", "listen"], { environment });
  await listening.sees(/Listening/);
  const { exitCode, stdout } = await cli.run(drama, { environment });
  expect(exitCode).toBe(0);
  await listening.sees(/task\.succeeded/);
  await caller.awaitTask(stdout.trim());
  listening.kill("SIGINT");
  await listening.ended;
});

test("an invalid forwarding address is a usage error", async () => {
  const { exitCode } = await cli.run(["webhooks", "listen", "--forward-to", "localhost:3000"], { environment });
  expect(exitCode).toBe(2);
});
