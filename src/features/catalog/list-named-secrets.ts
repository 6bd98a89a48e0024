import { readReference } from "../../platform/config/secrets.ts";
import type { Catalog } from "./catalog.ts";

/** The secrets that the catalog names, each with its providers. */
export function listNamedSecrets(catalog: Catalog | null): ReadonlyMap<string, readonly string[]> {
  const uses = (catalog?.providers ?? []).flatMap(({ id, api_keys: keys = [], headers = {}, webhook_secret: hook }) => {
    const texts = [...keys, ...Object.values(headers), ...(hook === undefined ? [] : [hook])];
    const names = texts.map(readReference).filter((name) => name !== null);
    return [...new Set(names)].map((name) => ({ name, id }));
  });
  return new Map([...Map.groupBy(uses, ({ name }) => name)].map(([name, same]) => [name, same.map(({ id }) => id)]));
}
