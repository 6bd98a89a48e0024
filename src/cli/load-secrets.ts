import { createStoredSecrets, type StoredSecrets } from "../features/secrets/index.ts";
import type { Settings } from "../platform/config/load-settings.ts";
import { findSecret, openMasterKey } from "../platform/config/master-key.ts";
import type { Database } from "../platform/database/database.ts";
import { systemDependencies } from "./system-dependencies.ts";

/** The secrets of upstreams as a gateway with these settings reads them. Never creates a secret key. */
export async function loadSecrets(
  database: Database,
  settings: Pick<Settings, "secret_key" | "data_dir">,
): Promise<StoredSecrets> {
  const hasKey = (await findSecret(settings)) !== null;
  const masterKey = hasKey ? await openMasterKey(settings, systemDependencies.randomBytes) : null;
  const secrets = createStoredSecrets({ database, masterKey });
  await secrets.load();
  return secrets;
}
