import { afterAll, beforeAll, expect, test } from "vitest";
import { createKeyUses, listKeyUses } from "../../src/features/accounts/index.ts";
import type { KeyId } from "../../src/lib/ids.ts";
import { startGateway, type TestGateway } from "../harness/test-gateway.ts";
import { waitUntil } from "../harness/wait-until.ts";

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway[Symbol.asyncDispose]());

const start = new Date("2026-03-01T12:00:00Z");
const later = (milliseconds: number): Date => new Date(start.getTime() + milliseconds);

async function readUse(keyId: KeyId) {
  const row = gateway.database.selectFrom("api_key_uses").selectAll().where("key_id", "=", keyId);
  return await row.executeTakeFirst();
}

function openUses(onTrouble: (error: unknown) => void = () => {}) {
  return createKeyUses({ database: gateway.database, onTrouble });
}

test("a call with a key is recorded", async () => {
  const { key, keyId } = await gateway.createCaller();
  expect(await listKeyUses(gateway.database, [keyId])).toEqual(new Map());
  await gateway.get("/models", key);
  await waitUntil("the note", async () => (await listKeyUses(gateway.database, [keyId])).has(keyId));
});

test("a call that is rejected for its key is not recorded", async () => {
  const { key, keyId } = await gateway.createCaller({ expiresAt: new Date(Date.now() + 60_000), endpoints: ["files"] });
  expect((await gateway.get("/models", key)).status).toBe(403);
  const { key: otherKey, keyId: otherId } = await gateway.createCaller();
  await gateway.get("/models", otherKey);
  await waitUntil("a later note", async () => (await readUse(otherId)) !== undefined);
  expect(await readUse(keyId)).toBeUndefined();
});

test("the first and the last use are stored, in whatever order nodes report them", async () => {
  const { keyId } = await gateway.createCaller();
  for (const at of [later(60_000), start, later(120_000), later(30_000)]) {
    const uses = openUses();
    uses.note(keyId, at);
    await uses.close();
  }
  expect(await readUse(keyId)).toMatchObject({ first_used_at: start, last_used_at: later(120_000) });
});

test("one process records a key once a minute", async () => {
  const { keyId } = await gateway.createCaller();
  const uses = openUses();
  uses.note(keyId, start);
  await waitUntil("the first note", async () => (await readUse(keyId)) !== undefined);
  uses.note(keyId, later(59_999));
  await uses.close();
  expect((await readUse(keyId))?.last_used_at).toEqual(start);
  uses.note(keyId, later(60_000));
  await uses.close();
  expect((await readUse(keyId))?.last_used_at).toEqual(later(60_000));
});

test("uses of several keys are written in one batch, on two nodes at once", async () => {
  const callers = await Promise.all(Array.from({ length: 20 }, () => gateway.createCaller()));
  const nodes = [openUses(), openUses()];
  for (const { keyId } of callers) nodes[0]?.note(keyId, start);
  for (const { keyId } of callers.toReversed()) nodes[1]?.note(keyId, later(1));
  await Promise.all(nodes.map((node) => node.close()));
  const uses = await listKeyUses(
    gateway.database,
    callers.map(({ keyId }) => keyId),
  );
  expect([...uses.values()]).toEqual(Array.from({ length: 20 }, () => later(1)));
});

test("a failed write is logged, and later uses are still written", async () => {
  const { keyId } = await gateway.createCaller();
  const troubles: unknown[] = [];
  const uses = openUses((error) => troubles.push(error));
  uses.note("key_nobody", start);
  await waitUntil("the trouble", () => troubles.length === 1);
  uses.note(keyId, start);
  await uses.close();
  expect(await readUse(keyId)).toMatchObject({ last_used_at: start });
});
