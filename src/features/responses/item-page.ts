import type { StoredItem } from "./conversation-store.ts";

/** The size of a page; a larger item is a page by itself. */
export const pageBytesMax = 1024 * 1024;

/** Builds the JSON of a list from the items' texts, without parsing large ones again. */
export function presentItemPage({ items, hasMore }: { items: readonly StoredItem[]; hasMore: boolean }): string {
  const data = items.map(({ text }) => text).join(",");
  const [firstId, lastId] = [items[0]?.id ?? null, items.at(-1)?.id ?? null];
  const rest = JSON.stringify({ first_id: firstId, last_id: lastId, has_more: hasMore });
  return `{"object":"list","data":[${data}],${rest.slice(1)}`;
}
