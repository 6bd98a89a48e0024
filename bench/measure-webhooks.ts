import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import { Pool } from "undici";
import { createAccount } from "../src/features/accounts/index.ts";
import {
  createEndpoint,
  createSecretBox,
  createWebhooks,
  type EventData,
  recordEvent,
} from "../src/features/webhooks/index.ts";
import { systemClock } from "../src/lib/clock.ts";
import { type AccountId, createIdSource } from "../src/lib/ids.ts";
import { openMasterKey } from "../src/platform/config/master-key.ts";
import type { Database } from "../src/platform/database/database.ts";
import { migrate } from "../src/platform/database/migrate.ts";
import { openDatabase } from "../src/platform/database/open-database.ts";
import { createLogger } from "../src/platform/observability/logger.ts";
import { type ForkedServer, forkServer } from "./fork-server.ts";
import { findMedian } from "./measure-cpu.ts";
import type { Figure } from "./task-figures.ts";

const deliveriesGoalMin = 1000;

/** The first round is warm-up, and is not counted. */
const rounds = 4;
const eventsCount = 5000;
const accountsCount = 50;
const recordersCount = 8;
const inFlight = 10;

const data: EventData = {
  task_id: "task_01kh2n8v7m3q5x9d4c6b8a0e2f",
  status: "succeeded",
  type: "image",
  model: "sandbox-image",
  output: [{ type: "image", file_id: "file_01kh2n8v7m3q5x9d4c6b8a0e2f", content_type: "image/png", bytes: 123_456 }],
  usage: { total_units: 1, charge: "0.04" },
  metadata: { order: "1234" },
};

type Measured = { perSecond: number; nodeUs: number };
type Round = { floor: Measured; hot: Measured; spread: Measured };

/**
 * Deliveries from one process to a fast receiver, with all their steps (claim, signature, log, state), beside bare
 * POSTs of the same body over as many connections. All take turns.
 */
export async function measureWebhooks(): Promise<Figure[]> {
  const counted = (await runRounds()).slice(1);
  const take = (name: keyof Round): number => findMedian(counted.map((round) => round[name].perSecond));
  const floor = `bare POSTs ${take("floor").toFixed(0)} /s`;
  const goal = { goal: `≥ ${deliveriesGoalMin} /s` };
  const [hot, spread] = [take("hot"), take("spread")];
  return [
    {
      ...{ what: "webhook deliveries, 1 endpoint", figure: `${hot.toFixed(0)} /s`, floor },
      ...{ ...goal, isMet: hot >= deliveriesGoalMin },
    },
    {
      ...{
        what: `webhook deliveries, ${accountsCount} endpoints of as many accounts`,
        figure: `${spread.toFixed(0)} /s`,
      },
      ...{ floor, goal: "", isMet: null },
    },
  ];
}

async function runRounds(): Promise<Round[]> {
  const receiver = await forkServer("fixed-upstream.ts");
  const bench = await openBench(`http://127.0.0.1:${receiver.port}/hook`);
  const [hotId] = bench.accountIds;
  const measured: Round[] = [];
  while (measured.length < rounds) {
    measured.push({
      floor: await measureFloor(receiver),
      hot: await bench.measure(hotId === undefined ? [] : [hotId]),
      spread: await bench.measure(bench.accountIds),
    });
  }
  await bench.close();
  await receiver.close();
  return measured;
}

async function measureFloor({ port }: ForkedServer): Promise<Measured> {
  const pool = new Pool(`http://127.0.0.1:${port}`, { connections: inFlight });
  const body = JSON.stringify({ id: "evt_01kh2n8v7m3q5x9d4c6b8a0e2f", type: "task.succeeded", created: 1, data });
  let left = eventsCount;
  async function post(): Promise<void> {
    while (left-- > 0) {
      const headers = { "content-type": "application/json" };
      const answer = await pool.request({ method: "POST", path: "/hook", headers, body });
      await answer.body.dump();
    }
  }
  const measured = await measure(async () => {
    await Promise.all(Array.from({ length: inFlight }, post));
  });
  await pool.close();
  return measured;
}

async function measure(run: () => Promise<void>): Promise<Measured> {
  const before = process.cpuUsage();
  const startedMs = performance.now();
  await run();
  const tookMs = performance.now() - startedMs;
  const { user, system } = process.cpuUsage(before);
  return { perSecond: (eventsCount * 1000) / tookMs, nodeUs: (user + system) / eventsCount };
}

/** A separate database, with accounts that each have an endpoint at the receiver. */
async function openBench(receiverUrl: string) {
  const dataDir = mkdtempSync(join(tmpdir(), "sluice-bench-"));
  const { database, address, close } = await openDatabase({
    url: undefined,
    dataDir,
    purpose: "command",
    connectionsMax: recordersCount,
    onProgress: () => {},
    onConnectionError: () => {},
    onLost: () => {},
  });
  await migrate(address);
  const ids = createIdSource({ clock: systemClock, randomBytes });
  const masterKey = await openMasterKey({ data_dir: dataDir }, randomBytes);
  const parts = { database, clock: systemClock, ids, randomBytes, masterKey, allowsPrivate: true };
  const secretBox = createSecretBox(masterKey, randomBytes);
  const accountIds: AccountId[] = [];
  for (let number = 0; number < accountsCount; number += 1) {
    const account = await createAccount(parts, { email: `bench-${number}@example.com` });
    const endpoint = { accountId: account.id, url: receiverUrl, description: "", eventTypes: [] };
    await createEndpoint({ ...parts, secretBox }, endpoint);
    accountIds.push(account.id);
  }
  const logger = createLogger({ level: "warn", format: "json", write: (line) => process.stderr.write(line) });

  async function deliver(): Promise<void> {
    const webhooks = createWebhooks({ ...parts, logger, random: () => 0.5, baseUrl: "", presentData: (kept) => kept });
    webhooks.startDelivering();
    while ((await countPending(database)) > 0) await new Promise((resolve) => setTimeout(resolve, 5));
    await webhooks.close();
  }

  return {
    accountIds,
    async measure(receivers: readonly AccountId[]): Promise<Measured> {
      await recordEvents(parts, receivers);
      return await measure(deliver);
    },
    async close() {
      await close();
      rmSync(dataDir, { recursive: true });
    },
  };
}

async function recordEvents(
  { database, ids }: { database: Database; ids: ReturnType<typeof createIdSource> },
  receivers: readonly AccountId[],
): Promise<void> {
  let count = 0;
  async function record(): Promise<void> {
    while (count < eventsCount) {
      const accountId = receivers[count % receivers.length];
      count += 1;
      if (accountId === undefined) return;
      const createdAt = systemClock.now();
      const event = {
        id: ids.next("evt"),
        accountId,
        type: "task.succeeded" as const,
        createdAt,
        data,
        callbackUrl: null,
      };
      await recordEvent(database, event, { ids });
    }
  }
  await Promise.all(Array.from({ length: recordersCount }, record));
}

async function countPending(database: Database): Promise<number> {
  const { rows } = await sql<{ count: bigint }>`
    select count(*) as count from (select from deliveries where state = 'pending' limit 1) pending`.execute(database);
  return Number(rows[0]?.count);
}
