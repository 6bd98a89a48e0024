import type { StoredItem } from "./conversation-store.ts";

/** So many bytes of items are a page; an item that is larger is a page by itself. */
export const pageBytesMax = 1024 * 1024;

/** The JSON text of a list, made of the texts of its items: large ones are neither parsed nor serialised again. */
export function presentItemPage({ items, hasMore }: { items: readonly StoredItem[]; hasMore: boolean }): string {
  const data = items.map(({ text }) => text).join(",");
  const [firstId, lastId] = [items[0]?.id ?? null, items.at(-1)?.id ?? null];
  const rest = JSON.stringify({ first_id: firstId, last_id: lastId, has_more: hasMore });
  return `{"object":"list","data":[${data}],${rest.slice(1)}`;
}
