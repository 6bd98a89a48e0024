import { sql } from "kysely";
import type { TestGateway } from "../test-gateway.ts";

/** An event whose delivery to a task's callback was given up. Returns the event's id. */
export async function insertFailedDelivery(gateway: TestGateway, accountId: string, url: string): Promise<string> {
  const { ids, clock } = gateway.parts;
  const [eventId, deliveryId, now] = [ids.next("evt"), ids.next("dlv"), clock.now()];
  await sql`
    insert into events (id, account_id, type, data, created_at)
      values (${eventId}, ${accountId}, 'task.succeeded', ${JSON.stringify({ task_id: ids.next("task") })}::json, ${now})`.execute(
    gateway.database,
  );
  await sql`
    insert into deliveries (id, event_id, account_id, endpoint_id, url, lane, state, attempt_count, due_at, created_at)
      values (${deliveryId}, ${eventId}, ${accountId}, null, ${url}, ${`${accountId} ${url}`}, 'failed', 12, null, ${now})`.execute(
    gateway.database,
  );
  await sql`
    insert into delivery_attempts (delivery_id, number, lease_id, attempted_at, duration_ms, status, error)
      values (${deliveryId}, 12, 'lease', ${now}, 30, 503, 'bad_status')`.execute(gateway.database);
  return eventId;
}
