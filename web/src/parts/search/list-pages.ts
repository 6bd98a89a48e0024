import { chapterGroups, getChapterPath } from "../../pages/guide/chapters.ts";
import { consolePlaces } from "../frame/console-places.ts";
import type { SearchEntry } from "./search-entry.ts";

type Page = SearchEntry & { alias?: string | undefined };

/** Search keywords of pages whose name does not contain them. */
const aliases: Readonly<Record<string, string>> = {
  "/console": "home dashboard start",
  "/console/models": "pricing",
  "/console/requests": "log calls errors latency status",
  "/console/tasks": "images videos dramas avatars speech gallery outputs",
  "/console/webhooks": "events deliveries endpoints",
  "/console/usage": "spending charges costs tokens",
  "/console/billing": "balance statement ledger payments plan quota invoices code",
  "/console/settings": "profile password passkeys authenticator sessions security time zone",
};

export const actions: readonly Page[] = [
  { to: "/console/keys?key=new", title: "Create an API key", icon: "plus" },
  { to: "/console/webhooks?add=1", title: "Create a webhook endpoint", icon: "plus" },
  { to: "/console/billing", title: "Add credit", icon: "plus", alias: "top up pay redeem code" },
];

export const openPages: readonly Page[] = [
  { to: "/docs", title: "API reference", icon: "book", alias: "docs openapi" },
  { to: "/docs/guide", title: "Guide", icon: "book", alias: "docs quick start" },
];

export const pages: readonly Page[] = [
  ...consolePlaces
    .flatMap(({ places }) => places)
    .map(({ to, name, icon }): Page => ({ to, title: name, icon, alias: aliases[to] })),
  ...openPages,
];

export const chapters: readonly Page[] = chapterGroups.flatMap((group) =>
  group.chapters.map((chapter) => ({
    to: getChapterPath(chapter.id),
    title: chapter.title,
    detail: group.name,
    icon: "book" as const,
  })),
);
