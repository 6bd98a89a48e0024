import { setTimeout as wait } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import type { Clock } from "../../lib/clock.ts";
import { repeat } from "../../lib/repeat.ts";
import { environmentSecrets, type SecretReader } from "../../platform/config/secrets.ts";
import type { ChangeFeed } from "../../platform/database/change-feed.ts";
import type { Database } from "../../platform/database/database.ts";
import type { LoadAdapters } from "../../providers/provider-registry.ts";
import type { UpstreamHealth } from "../../providers/upstream-health.ts";
import type { Catalog } from "./catalog.ts";
import { findCatalog } from "./catalog-store.ts";
import { type CatalogView, createCatalogView } from "./catalog-view.ts";
import { listRouteFaults, type RouteFault } from "./list-route-faults.ts";
import { isInForce, type UpstreamSwitch } from "./upstream-switch.ts";
import { listSwitches } from "./upstream-switch-store.ts";

export type LiveCatalog = {
  /** The newest version this node has loaded. Reads memory, never the database. */
  current(): CatalogView;
  close(): void;
};

const retryMs = 200;
/** How often to check targets that are out of service again: a secret's file may appear, or a switch end. */
const examineMs = 1_000;

/** Loads the catalog and reloads it on each change notification. */
export async function openLiveCatalog(options: {
  database: Database;
  clock: Clock;
  feed: ChangeFeed;
  health: UpstreamHealth;
  loadAdapters: LoadAdapters;
  /** Where provider packages are installed; without it only the bundled ones are found. */
  packagesFolder?: string;
  /** The secrets that the catalog names, loaded with it; by default those of the environment. */
  secrets?: SecretReader & { load?(): Promise<ReadonlySet<string>> };
  /** Called on each failed load; `onRecovery` on each successful one. */
  onTrouble(error: unknown): void;
  onRecovery?(): void;
  /** Receives all targets that are out of service, with each catalog version and on each change. */
  onFaults?(faults: readonly RouteFault[]): void;
}): Promise<LiveCatalog> {
  const { health, packagesFolder = null, secrets = environmentSecrets } = options;
  let view = createCatalogView(null, health, secrets);
  let switches: readonly UpstreamSwitch[] = [];
  let faults: readonly RouteFault[] = [];
  let wantedLoads = 0;
  let isLoading = false;
  let isClosed = false;

  /** A switch past its end is no fault. */
  function listFaults(catalog: Catalog | null): RouteFault[] {
    const now = options.clock.now();
    const inForce = switches.filter((one) => isInForce(one, now));
    return listRouteFaults(catalog, { packagesFolder, secrets, switches: inForce });
  }

  async function read(): Promise<void> {
    const catalog = await findCatalog(options.database);
    await options.loadAdapters(catalog?.providers ?? []);
    const changed = await options.secrets?.load?.();
    switches = await listSwitches(options.database);
    serve(catalog, listFaults(catalog));
    if (changed !== undefined) forgetCircuits(catalog, changed);
  }

  /** Creates a new view even if only secrets or faults changed: targets prepared for the old view have its secrets. */
  function serve(catalog: Catalog | null, found: readonly RouteFault[]): void {
    const hasChanged = catalog?.version !== view.catalog?.version || !isDeepStrictEqual(found, faults);
    faults = found;
    view = createCatalogView(catalog, health, secrets);
    if (!hasChanged) return;
    health.setFaults(faults);
    options.onFaults?.(faults);
  }

  /** Failures with the old key say nothing about the new one. */
  function forgetCircuits(catalog: Catalog | null, changed: ReadonlySet<string>): void {
    for (const { id, api_keys: keys = [], headers = {} } of catalog?.providers ?? []) {
      const isHeaderChanged = Object.values(headers).some((text) => changed.has(text));
      for (const [keyNumber, reference] of (keys.length === 0 ? [""] : keys).entries()) {
        if (isHeaderChanged || changed.has(reference)) health.forgetKey(id, keyNumber);
      }
    }
  }

  function examineFaults(): void {
    if (faults.length === 0) return;
    const found = listFaults(view.catalog);
    if (!isDeepStrictEqual(found, faults)) serve(view.catalog, found);
  }

  /** Repeats until no change arrived during a load, so the last one is never missed. */
  async function load(): Promise<void> {
    wantedLoads += 1;
    if (isLoading) return;
    isLoading = true;
    for (let done = 0; done < wantedLoads && !isClosed; ) {
      const asked = wantedLoads;
      try {
        await read();
        done = asked;
        options.onRecovery?.();
      } catch (error) {
        // Keep serving the old version and retry.
        options.onTrouble(error);
        await wait(retryMs, undefined, { ref: false });
      }
    }
    wantedLoads = 0;
    isLoading = false;
  }

  // Subscribe before reading, so that no version is missed in between.
  options.feed.subscribe("catalog", { onChange: () => void load(), onReset: () => void load() });
  await read();
  const stop = repeat(examineMs, examineFaults);
  return {
    current: () => view,
    close() {
      isClosed = true;
      stop();
    },
  };
}
