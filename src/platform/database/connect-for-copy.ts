import pg from "pg";
import type { DatabaseAddress } from "./database.ts";
import { locate } from "./database-address.ts";
import { lineOptions } from "./line-watch.ts";

const connectMsMax = 5000;

/** A connection for work that takes as long as it takes, and whose rows read the same whatever the server is set to. */
export async function connectForCopy(
  address: DatabaseAddress,
  name: string,
  options: pg.ClientConfig & { replication?: "true" } = {},
): Promise<pg.Client> {
  if ("hosts" in address) await address.hosts.look();
  const client = new pg.Client({
    ...locate(address),
    ...lineOptions,
    ...options,
    application_name: name,
    connectionTimeoutMillis: connectMsMax,
  });
  // The statement that runs meanwhile fails with the same error, and tells it.
  client.on("error", () => {});
  await client.connect();
  return client;
}
