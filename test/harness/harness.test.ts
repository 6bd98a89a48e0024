import { expect, test } from "vitest";
import { untilIdle } from "./idle-process.ts";
import { startWebhookReceiver } from "./servers/webhook-receiver.ts";
import { createTestClock } from "./test-clock.ts";
import { createTestDatabase } from "./test-database.ts";
import { startGateway } from "./test-gateway.ts";
import { waitUntil } from "./wait-until.ts";

test("the webhook receiver records deliveries and answers with the scripted statuses", async () => {
  await using receiver = await startWebhookReceiver();
  receiver.answerWith(500);
  const deliver = () => fetch(receiver.url, { method: "POST", body: "{}", headers: { "webhook-id": "evt_1" } });
  expect([(await deliver()).status, (await deliver()).status]).toEqual([500, 200]);
  const deliveries = await receiver.waitForDeliveries(2);
  expect(deliveries.map(({ headers }) => headers["webhook-id"])).toEqual(["evt_1", "evt_1"]);
});

test("the test clock stands still until it is moved, and the gateway uses it", async () => {
  const clock = createTestClock();
  await using gateway = await startGateway({ clock });
  const { key } = await gateway.createCaller();
  clock.advance(60_000);
  const response = await fetch(`${gateway.baseUrl}/models`, { headers: { authorization: `Bearer ${key}` } });
  const { data } = (await response.json()) as { data: { created: number }[] };
  expect(data[0]?.created).toBe(Date.parse("2026-01-01T00:00:00Z") / 1000);
  const line = await waitUntil("the log line", () => gateway.logs.find((entry) => entry.msg === "request"));
  expect(line.duration_ms).toBe(0);
});

test("a wait that times out names what it waited for", async () => {
  await expect(waitUntil("the moon", () => false, 50)).rejects.toThrow("the moon");
});

test("a connection that a test leaves open is found", async () => {
  const { default: pg } = await import("pg");
  const database = await createTestDatabase();
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  await expect(database.close()).rejects.toThrow("Connections left open");
  await client.end();
  await database.close();
});

test("work that a test leaves in the event loop is found", async () => {
  let isOver = false;
  const go = (): unknown => isOver || setImmediate(go);
  go();
  await expect(untilIdle()).rejects.toThrow("goes on with every turn");
  isOver = true;
  await untilIdle();
});

test("each test has its own database", async () => {
  await using one = await startGateway();
  await using two = await startGateway();
  await one.createCaller();
  const count = (gateway: typeof one) => gateway.database.selectFrom("accounts").select("id").execute();
  expect([(await count(one)).length, (await count(two)).length]).toEqual([2, 1]);
});
