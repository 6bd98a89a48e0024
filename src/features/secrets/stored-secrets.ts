import type { MasterKey } from "../../platform/config/master-key.ts";
import { environmentSecrets, presentReference, type SecretReader } from "../../platform/config/secrets.ts";
import type { Database } from "../../platform/database/database.ts";
import { createUpstreamSecretSeal } from "./seal-upstream-secret.ts";
import { listCurrentSecrets } from "./secret-store.ts";

export type UsedSecret = { name: string; version: number };

export type StoredSecrets = SecretReader & {
  /**
   * Reads the current versions from the database. Until then only the environment is used. Returns the references whose
   * version changed since the last load.
   */
  load(): Promise<ReadonlySet<string>>;
  /** The secrets that were used since the last call. */
  takeUses(): UsedSecret[];
};

type Entry = UsedSecret & { value: string | null; isUsed: boolean };

/** A late error may still quote a replaced key. */
const sentValuesMax = 3;

/** The stored secrets in memory, before those of the environment. `masterKey` is `null` if this machine has no key. */
export function createStoredSecrets({
  database,
  masterKey,
}: {
  database: Database;
  masterKey: MasterKey | null;
}): StoredSecrets {
  const seal = masterKey === null ? null : createUpstreamSecretSeal(masterKey);
  let entries: ReadonlyMap<string, Entry> = new Map();
  const sent = new Map<string, readonly string[]>();

  return {
    async load() {
      const rows = await listCurrentSecrets(database);
      const before = entries;
      entries = new Map(
        rows.map(({ name, version, sealed }) => {
          const reference = presentReference(name);
          const known = before.get(reference);
          const value = seal?.open({ name, version }, sealed) ?? null;
          const isUsed = known?.version === version && known.isUsed;
          return [reference, { name, version, value, isUsed }];
        }),
      );
      for (const [reference, { value }] of entries) {
        const earlier = sent.get(reference) ?? [];
        if (value !== null && !earlier.includes(value)) {
          sent.set(reference, [value, ...earlier].slice(0, sentValuesMax));
        }
      }
      const named = new Set([...before.keys(), ...entries.keys()]);
      return new Set([...named].filter((one) => before.get(one)?.version !== entries.get(one)?.version));
    },
    takeUses() {
      const used = [...entries.values()].filter(({ isUsed }) => isUsed);
      for (const entry of used) entry.isUsed = false;
      return used.map(({ name, version }) => ({ name, version }));
    },
    find: (text) => (entries.get(text) ?? { value: environmentSecrets.find(text) }).value,
    use(text) {
      const entry = entries.get(text);
      if (entry === undefined) return environmentSecrets.use(text);
      entry.isUsed = true;
      return entry.value;
    },
    isUnreadable: (text) => entries.get(text)?.value === null,
    listSent: (text) => [...environmentSecrets.listSent(text), ...(sent.get(text) ?? [])],
  };
}
