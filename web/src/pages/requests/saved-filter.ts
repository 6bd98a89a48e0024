import { type RequestsSearch, searchNames } from "./requests-view.ts";

export type SavedFilter = { name: string; search: RequestsSearch };

const filtersMax = 20;
const nameCharactersMax = 60;

/** The stored filters; anything else is dropped. */
export function parseFilters(stored: string | null): SavedFilter[] {
  try {
    const found: unknown = JSON.parse(stored ?? "[]");
    return Array.isArray(found) ? found.flatMap(parseFilter).slice(0, filtersMax) : [];
  } catch {
    return [];
  }
}

function parseFilter(found: unknown): SavedFilter[] {
  if (typeof found !== "object" || found === null || !("name" in found) || !("search" in found)) return [];
  const { name, search } = found;
  if (typeof name !== "string" || typeof search !== "object" || search === null) return [];
  const words = Object.entries(search).filter(
    ([key, word]) => (searchNames as readonly string[]).includes(key) && typeof word === "string",
  );
  return [{ name: name.slice(0, nameCharactersMax), search: Object.fromEntries(words) }];
}

/** Newest first; one of the same name is replaced. */
export function addFilter(filters: readonly SavedFilter[], added: SavedFilter): SavedFilter[] {
  const name = added.name.slice(0, nameCharactersMax);
  return [{ ...added, name }, ...filters.filter((each) => each.name !== name)].slice(0, filtersMax);
}

/** All search parameters of a filter; those that it lacks are removed. */
export function openFilter(search: RequestsSearch): RequestsSearch {
  return Object.fromEntries(searchNames.map((name) => [name, search[name] ?? ""]));
}
