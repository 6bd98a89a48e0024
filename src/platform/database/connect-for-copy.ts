import pg from "pg";
import { connectionOptions } from "./connection-watch.ts";
import type { DatabaseAddress } from "./database.ts";
import { locate } from "./database-address.ts";

const connectMsMax = 5000;

/** A connection without timeouts, for backups and restores. */
export async function connectForCopy(
  address: DatabaseAddress,
  name: string,
  options: pg.ClientConfig & { replication?: "true" } = {},
): Promise<pg.Client> {
  if ("hosts" in address) await address.hosts.look();
  const client = new pg.Client({
    ...locate(address),
    ...connectionOptions,
    ...options,
    application_name: name,
    connectionTimeoutMillis: connectMsMax,
  });
  // The running statement fails with the same error.
  client.on("error", () => {});
  await client.connect();
  return client;
}
