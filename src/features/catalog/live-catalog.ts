import { setTimeout as wait } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import type { ChangeFeed } from "../../platform/database/change-feed.ts";
import type { Database } from "../../platform/database/database.ts";
import type { LoadAdapters } from "../../providers/provider-registry.ts";
import type { UpstreamHealth } from "../../providers/upstream-health.ts";
import type { Catalog } from "./catalog.ts";
import { findCatalog } from "./catalog-store.ts";
import { type CatalogView, createCatalogView } from "./catalog-view.ts";
import { listRouteFaults, type RouteFault } from "./list-route-faults.ts";

export type LiveCatalog = {
  /** The newest version that this node has heard of: read from memory, never from the database. */
  current(): CatalogView;
  close(): void;
};

const retryMs = 200;
/** How often targets that are out of service are examined: a file with a secret may appear at any time. */
const examineMs = 1_000;

/** Loads the catalog and keeps it up to date: a new version is served within moments of being applied. */
export async function openLiveCatalog(options: {
  database: Database;
  feed: ChangeFeed;
  health: UpstreamHealth;
  loadAdapters: LoadAdapters;
  /** Where packages of providers are installed; without it only Sluice's own are found. */
  packagesFolder?: string;
  /** Told of each try to load a new version that failed, and of each that did not. */
  onTrouble(error: unknown): void;
  onRecovery?(): void;
  /** Receives all targets that are out of service, with each catalog version and on each change. */
  onFaults?(faults: readonly RouteFault[]): void;
}): Promise<LiveCatalog> {
  const { health, packagesFolder = null } = options;
  let view = createCatalogView(null, health);
  let faults: readonly RouteFault[] = [];
  let wantedLoads = 0;
  let isLoading = false;
  let isClosed = false;

  async function read(): Promise<void> {
    const catalog = await findCatalog(options.database);
    await options.loadAdapters(catalog?.providers ?? []);
    serve(catalog, listRouteFaults(catalog, packagesFolder));
  }

  /** A new view even where only the faults changed: what was made ready for the old one may lack a secret. */
  function serve(catalog: Catalog | null, found: readonly RouteFault[]): void {
    const isNews = catalog?.version !== view.catalog?.version || !isDeepStrictEqual(found, faults);
    faults = found;
    view = createCatalogView(catalog, health);
    if (!isNews) return;
    health.setFaults(faults);
    options.onFaults?.(faults);
  }

  function examineFaults(): void {
    if (faults.length === 0) return;
    const found = listRouteFaults(view.catalog, packagesFolder);
    if (!isDeepStrictEqual(found, faults)) serve(view.catalog, found);
  }

  /** Loads until no change has come in meanwhile, so that the last one always counts. */
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
        // The old version is better than none; the next try follows at once.
        options.onTrouble(error);
        await wait(retryMs, undefined, { ref: false });
      }
    }
    wantedLoads = 0;
    isLoading = false;
  }

  // Listening comes first, so that no version can slip in between.
  options.feed.subscribe("catalog", { onChange: () => void load(), onReset: () => void load() });
  await read();
  const timer = setInterval(examineFaults, examineMs);
  timer.unref();
  return {
    current: () => view,
    close() {
      isClosed = true;
      clearInterval(timer);
    },
  };
}
