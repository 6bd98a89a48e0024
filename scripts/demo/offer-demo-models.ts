import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse, stringify } from "yaml";
import { applyCatalog } from "../../src/features/catalog/index.ts";
import type { Clock } from "../../src/lib/clock.ts";
import type { AccountId, IdSource } from "../../src/lib/ids.ts";
import { invariant } from "../../src/lib/invariant.ts";
import type { Database } from "../../src/platform/database/database.ts";
import type { DemoCaller } from "./demo-caller.ts";

const sandboxFile = join(import.meta.dirname, "../../catalogs/sandbox.yaml");

/** The sandbox's chat model under other names and prices, for comparison. */
const moreModels = [
  {
    id: "sandbox-chat-pro",
    name: "Sandbox Chat Pro",
    input_price: "0.005",
    output_price: "0.03",
    cached_input_price: "0.0005",
  },
  {
    id: "sandbox-chat-max",
    name: "Sandbox Chat Max",
    input_price: "0.02",
    output_price: "0.12",
    cached_input_price: "0.002",
  },
];

/** The studio's maximum; the sandbox's own catalog offers only shorter videos. */
export const longFilmSeconds = 60;

type CatalogParts = { database: Database; clock: Clock; ids: IdSource };

/** Adds the models and longer videos, and waits until the gateway lists them. */
export async function offerDemoModels(parts: CatalogParts, caller: DemoCaller, accountId: AccountId): Promise<void> {
  const catalog = parse(readFileSync(sandboxFile, "utf8"));
  const [chat] = catalog.models;
  for (const { id, name, ...prices } of moreModels) {
    catalog.models.push({ ...chat, id, name });
    catalog.prices.push({ model: id, billing_type: "token", unit: "1K tokens", ...prices });
  }
  for (const { type, limits } of catalog.models) if (type === "video") limits.durations.push(longFilmSeconds);
  const { currency } = await caller.get<{ currency: string }>("/balance");
  const surroundings = {
    currency,
    planIds: new Set<string>(),
    accountIds: new Set([accountId]),
    hasSecret: () => false,
    findPackageFault: () => null,
  };
  const outcome = await applyCatalog(
    { ...parts, surroundings },
    stringify({ ...catalog, currency }, { aliasDuplicateObjects: false }),
  );
  invariant(outcome.kind === "accepted", `the demo's catalog is refused: ${JSON.stringify(outcome)}`);
  const last = moreModels.at(-1)?.id;
  const isOffered = async (): Promise<boolean> => {
    const { data } = await caller.get<{ data: { id: string }[] }>("/models");
    return data.some(({ id }) => id === last);
  };
  for (let tries = 0; !(await isOffered()); tries += 1) invariant(tries < triesMax, "the gateway offers no new model");
}

/** A poll takes 1 to 2 ms; a catalog change arrives within a second. */
const triesMax = 5_000;
