import type { SearchEntry } from "./search-entry.ts";

const prefix = "sluice-found:";
const recentMax = 5;

/** What was found and opened last, in this browser and for this account. */
export function listRecentEntries(accountId: string): SearchEntry[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(prefix + accountId) ?? "[]");
    return Array.isArray(kept) ? kept.filter(isEntry) : [];
  } catch {
    // Whatever was written there before, it is not worth an error.
    return [];
  }
}

export function rememberEntry(accountId: string, entry: SearchEntry): void {
  const others = listRecentEntries(accountId).filter(({ to }) => to !== entry.to);
  localStorage.setItem(prefix + accountId, JSON.stringify([entry, ...others].slice(0, recentMax)));
}

/** When somebody signs out: whoever uses the browser next learns nothing from it. */
export function forgetRecentEntries(): void {
  for (const name of Object.keys(localStorage)) if (name.startsWith(prefix)) localStorage.removeItem(name);
}

/** Only the site writes there, but perhaps an older version of it. */
function isEntry(value: unknown): value is SearchEntry {
  return typeof value === "object" && value !== null && "to" in value && "title" in value && "icon" in value;
}
