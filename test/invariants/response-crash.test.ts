import { sql } from "kysely";
import OpenAI from "openai";
import { expect, test } from "vitest";
import { findViolations } from "../../src/features/ledger/index.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { type CrashPlace, type Customer, openCrashPlace } from "../harness/chat/crash-place.ts";
import { listCharges, listHolds } from "../harness/ledger/read-chat-ledger.ts";
import { createGate } from "../harness/upstreams/gate.ts";
import { waitUntil } from "../harness/wait-until.ts";

const asked = { model: "open", input: "Take your time", background: true } as const;
const timeout = 240_000;
/** A gateway takes over leases only after its database was available for a while. */
const patienceMs = 60_000;

async function restart(place: CrashPlace): Promise<void> {
  await place.kill();
  await place.restart();
  await place.endLeases();
}

function openClient({ baseUrl }: CrashPlace, { key }: Customer): OpenAI {
  return new OpenAI({ apiKey: key, baseURL: baseUrl, maxRetries: 0 });
}

function untilOver(client: OpenAI, id: string) {
  return waitUntil(
    "the response to be over",
    async () => {
      const response = await client.responses.retrieve(id);
      return response.status === "in_progress" ? null : response;
    },
    patienceMs,
  );
}

async function expectOneCharge(place: CrashPlace, { accountId }: Customer, states: readonly string[]): Promise<void> {
  const database = place.database();
  expect(await listCharges(database, accountId)).toHaveLength(1);
  expect((await listHolds(database, accountId)).map(({ state }) => state)).toEqual(states);
  const now = systemClock.now();
  expect(await findViolations(database, { kind: "whole", accountIds: "all", now })).toEqual([]);
}

test("a background response outlives its process and is charged once", { timeout }, async () => {
  await using place = await openCrashPlace();
  const [plain, streamed, keyed, lost] = place.customers as [Customer, Customer, Customer, Customer];
  const gate = createGate();
  place.upstream.script({ beforeHead: gate }, { pieces: ["One", " two"], beforeEnd: gate }, { beforeHead: gate });

  const begun = await openClient(place, plain).responses.create(asked);
  const events = await openClient(place, streamed).responses.create({ ...asked, stream: true });
  let id = "";
  let seen = 0;
  for await (const event of events) {
    if (event.type === "response.created") id = event.response.id;
    seen = event.sequence_number;
    if (event.type === "response.output_text.delta" && event.delta === " two") break;
  }
  const headers = { "idempotency-key": "background-1" };
  const first = await openClient(place, keyed).responses.create(asked, { headers });
  await waitUntil("three calls", () => place.upstream.requests.length === 3);
  // The row is written after the answer's time was read, at times in the next second.
  await sql`update responses set created_at = created_at + interval '1 second'`.execute(place.database());
  await restart(place);
  gate.open();

  const response = await untilOver(openClient(place, plain), begun.id);
  expect(response).toMatchObject({ id: begun.id, status: "completed", created_at: begun.created_at });
  await expectOneCharge(place, plain, ["released", "settled"]);

  const client = openClient(place, streamed);
  const over = await untilOver(client, id);
  const later = await Array.fromAsync(await client.responses.retrieve(id, { stream: true, starting_after: seen }));
  expect(later[0]?.type).toBe("response.created");
  expect(later.at(-1)).toMatchObject({ type: "response.completed", response: { output: over.output } });
  await expectOneCharge(place, streamed, ["released", "settled"]);

  const again = await openClient(place, keyed).responses.create(asked, { headers });
  expect(again.id).toBe(first.id);
  await untilOver(openClient(place, keyed), first.id);
  await expectOneCharge(place, keyed, ["released", "settled"]);
  expect(place.upstream.requests).toHaveLength(6);

  // Killed after the charge, before the response was stored.
  const paid = createGate();
  place.upstream.script({ beforeHead: paid, text: "Paid for" });
  const charged = await openClient(place, lost).responses.create(asked);
  await sql`create function refuse_end() returns trigger language plpgsql as $$ begin raise 'refused'; end $$`.execute(
    place.database(),
  );
  await sql`create trigger refuse_end before update on responses for each row execute function refuse_end()`.execute(
    place.database(),
  );
  paid.open();
  await waitUntil("the charge", async () => (await listCharges(place.database(), lost.accountId)).length === 1);
  await place.kill();
  await place.restart();
  await sql`drop trigger refuse_end on responses`.execute(place.database());
  await place.endLeases();
  const recovered = await untilOver(openClient(place, lost), charged.id);
  expect(recovered).toMatchObject({ status: "completed", output_text: "Paid for" });
  await expectOneCharge(place, lost, ["settled"]);
  expect(place.upstream.requests).toHaveLength(7);
});

test("a background response is handed over when its gateway shuts down", { timeout, tags: "extended" }, async () => {
  await using place = await openCrashPlace();
  const [customer] = place.customers as [Customer];
  const gate = createGate();
  place.upstream.script({ pieces: ["One", " two"], beforeEnd: gate });
  const stream = await openClient(place, customer).responses.create({ ...asked, stream: true });
  let id = "";
  for await (const event of stream) {
    if (event.type === "response.created") id = event.response.id;
    if (event.type === "response.output_text.delta" && event.delta === " two") break;
  }
  await place.kill("SIGTERM");
  await place.restart();
  gate.open();
  expect(await untilOver(openClient(place, customer), id)).toMatchObject({ status: "completed" });
  await expectOneCharge(place, customer, ["released", "settled"]);
});
