import { createStoredSecrets, type StoredSecrets } from "../../secrets/index.ts";
import type { AdminDependencies } from "../admin-dependencies.ts";

/** The secrets of upstreams as every gateway reads them now. */
export async function loadUpstreamSecrets({
  database,
  masterKey,
}: Pick<AdminDependencies, "database" | "masterKey">): Promise<StoredSecrets> {
  const secrets = createStoredSecrets({ database, masterKey });
  await secrets.load();
  return secrets;
}
