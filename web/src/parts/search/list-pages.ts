import { chapterGroups, firstChapter } from "../../pages/guide/chapters.ts";
import type { SearchEntry } from "./search-entry.ts";

export type PlaceGroup = {
  name: string;
  places: readonly { to: string; name: string; icon: SearchEntry["icon"] }[];
};

type Page = SearchEntry & { alias?: string | undefined };

/** What people look for on a page whose name does not say it. */
const aliases: Readonly<Record<string, string>> = {
  "/console": "home dashboard start",
  "/console/models": "pricing",
  "/console/tasks": "images videos dramas avatars speech gallery outputs",
  "/console/webhooks": "events deliveries endpoints",
  "/console/usage": "spending charges costs tokens",
  "/console/billing": "balance statement ledger payments plan quota invoices code",
  "/console/settings": "profile password passkeys authenticator sessions security time zone",
};

const actions: readonly Page[] = [
  { to: "/console/keys?key=new", title: "Create an API key", tag: "Action", icon: "plus" },
  { to: "/console/webhooks?add=1", title: "Create a webhook endpoint", tag: "Action", icon: "plus" },
  { to: "/console/billing", title: "Add credit", tag: "Action", icon: "plus", alias: "top up pay redeem code" },
  { to: "/docs", title: "API reference", tag: "Page", icon: "book", opens: "document", alias: "docs openapi" },
];

/** The places of the console, and what can be begun there. */
export function listPages(groups: readonly PlaceGroup[]): Page[] {
  const places = groups.flatMap((group) =>
    group.places.map(
      ({ to, name, icon }): Page => ({ to, title: name, tag: "Page", icon, alias: aliases[to], detail: undefined }),
    ),
  );
  return [...places, ...actions];
}

export const chapters: readonly Page[] = chapterGroups.flatMap((group) =>
  group.chapters.map((chapter) => ({
    to: chapter === firstChapter ? "/docs/guide" : `/docs/guide/${chapter.id}`,
    title: chapter.title,
    detail: group.name,
    tag: "Guide",
    icon: "book" as const,
  })),
);
