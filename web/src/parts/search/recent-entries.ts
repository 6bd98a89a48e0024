import type { SearchEntry } from "./search-entry.ts";

const prefix = "sluice-found:";
const recentMax = 5;

/** Recently opened entries, per browser and account. */
export function listRecentEntries(accountId: string): SearchEntry[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(prefix + accountId) ?? "[]");
    return Array.isArray(kept) ? kept.filter(isEntry) : [];
  } catch {
    // Ignore invalid stored data.
    return [];
  }
}

export function rememberEntry(accountId: string, entry: SearchEntry): void {
  const others = listRecentEntries(accountId).filter(({ to }) => to !== entry.to);
  localStorage.setItem(prefix + accountId, JSON.stringify([entry, ...others].slice(0, recentMax)));
}

/** On sign-out, so the next user of the browser sees nothing. */
export function forgetRecentEntries(): void {
  for (const name of Object.keys(localStorage)) if (name.startsWith(prefix)) localStorage.removeItem(name);
}

/** Written by this site, but possibly by an older version. */
function isEntry(value: unknown): value is SearchEntry {
  return typeof value === "object" && value !== null && "to" in value && "title" in value && "icon" in value;
}
