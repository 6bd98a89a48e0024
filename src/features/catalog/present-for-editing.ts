import { isDeepStrictEqual } from "node:util";
import { type Document, isMap, isSeq } from "yaml";
import type { Catalog } from "./catalog.ts";
import type { PriceLine } from "./catalog-file.ts";
import { describeCatalogChange } from "./describe-catalog-change.ts";
import { exportForEditing } from "./export-catalog.ts";
import { parseCatalog } from "./parse-catalog.ts";
import { planCatalogChange } from "./plan-catalog-change.ts";

/**
 * The catalog for an editor: the file that was applied, with its comments, if it still says the same as the catalog. Prices that
 * have taken effect since lose their `effective_at`, superseded ones are removed.
 */
export function presentForEditing(catalog: Catalog, source: string | null, now: Date): string {
  const written = exportForEditing(catalog, now);
  const text = source === null ? null : endPastPrices(source, now);
  if (text === null) return written;
  const changes = listChanges(text, catalog, now);
  return changes !== null && isDeepStrictEqual(changes, listChanges(written, catalog, now)) ? text : written;
}

/** What applying the file would change; `null` if it is not valid. */
function listChanges(text: string, current: Catalog, now: Date): string[] | null {
  const parsed = parseCatalog(text);
  if (parsed.kind === "malformed") return null;
  const planned = planCatalogChange({ file: parsed.file, current, now, createPriceId: () => "new" });
  return planned.kind === "impossible" ? null : describeCatalogChange(current, planned.change.next);
}

function endPastPrices(source: string, now: Date): string | null {
  const parsed = parseCatalog(source);
  if (parsed.kind === "malformed") return null;
  const { document, file } = parsed;
  const isPast = ({ effective_at: at }: PriceLine): boolean => at !== undefined && new Date(at) <= now;
  if (!file.prices.some(isPast)) return source;
  const prices = document.get("prices", true);
  if (!isSeq(prices)) return null;
  prices.items = prices.items.filter((item, position) => {
    const line = file.prices[position];
    if (line === undefined) return true;
    if (isMap(item) && isPast(line)) item.delete("effective_at");
    return !file.prices.some((other) => isPast(other) && isLater(other, line) && isSameScope(other, line));
  });
  return write(document);
}

/** A price without a time has been in force since it was applied, before the timed ones of its file. */
function isLater({ effective_at: at = "" }: PriceLine, { effective_at: other }: PriceLine): boolean {
  return other === undefined || new Date(at) > new Date(other);
}

function isSameScope(one: PriceLine, other: PriceLine): boolean {
  const names = ["model", "capability", "plan", "account"] as const;
  return names.every((name) => one[name] === other[name]);
}

/** Long texts stay on the lines where they are. */
function write(document: Document): string {
  return document.toString({ lineWidth: 0 });
}
