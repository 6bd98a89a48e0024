import { useEffect, useState } from "react";
import type { Model } from "../../api/fetch-catalog.ts";
import type { SearchHit } from "../../api/fetch-search.ts";
import { getChapterPath } from "../../api/guide-document.ts";
import { queryTable } from "../../api/query-table.ts";
import type { DocsEntry } from "../../api/reference-document.ts";
import { useTableQuery } from "../../api/use-table-query.ts";
import { chapterGroups } from "../../pages/guide/chapters.ts";
import { findDay } from "../format/calendar-days.ts";
import { formatMoment } from "../format/format-time.ts";
import { nameType } from "../format/model-labels.ts";
import { consoleNavigation } from "../frame/console-navigation.ts";
import { matchEntries } from "./match-entries.ts";
import { listRecentEntries } from "./recent-entries.ts";
import type { SearchEntry, SearchGroup } from "./search-entry.ts";

/** Debounce before the server is asked. */
const pauseMs = 120;
const entriesMax = 5;

type Found = { groups: SearchGroup[]; isSearching: boolean; error: Error | null; isSignedIn: boolean };

/** Search results: local matches at once, matches in the account after the response. */
export function useSearchGroups(text: string): Found {
  const { data: session = null } = useTableQuery(queryTable.session.current());
  const isSignedIn = session !== null;
  const words = text.trim();
  const asked = useSettled(words);
  const hits = useTableQuery(queryTable.search.account(asked), { isEnabled: isSignedIn && asked !== "" });
  const models = useTableQuery(queryTable.models.list(), { isEnabled: isSignedIn });
  const docs = useTableQuery(queryTable.reference.index());
  const own = isSignedIn && asked === words ? (hits.data?.data ?? []) : [];
  if (words === "") {
    const groups = [
      { name: "Recent", entries: isSignedIn ? listRecentEntries(session.account.id) : [] },
      { name: "Pages", entries: isSignedIn ? pages : openPages },
      ...(isSignedIn ? [{ name: "Actions", entries: actions }] : [{ name: "Guide", entries: chapters }]),
    ];
    return { groups: groups.filter(isFilled), isSearching: false, error: null, isSignedIn };
  }
  const known = [
    { name: "Pages", ...matchEntries(isSignedIn ? pages : openPages, words, entriesMax) },
    { name: "Actions", ...matchEntries(isSignedIn ? actions : [], words, entriesMax) },
    { name: "Models", ...matchEntries((models.data?.data ?? []).map(describeModel), words, entriesMax) },
    { name: "Guide", ...matchEntries(chapters, words, entriesMax) },
    ...matchDocs(docs.data ?? [], words, entriesMax),
  ];
  const timeZone = session?.account.time_zone ?? "UTC";
  const groups = [
    { name: "In your account", entries: own.map((hit) => describeHit(hit, timeZone)) },
    ...known.toSorted((a, b) => a.rank - b.rank),
  ];
  return {
    groups: groups.filter(isFilled),
    isSearching: docs.isLoading || (isSignedIn && (asked !== words || hits.isLoading || models.isLoading)),
    error: isSignedIn && asked === words ? hits.error : null,
    isSignedIn,
  };
}

function isFilled({ entries }: SearchGroup): boolean {
  return entries.length > 0;
}

function useSettled(text: string): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), pauseMs);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}

type Group = { name: string; entries: SearchEntry[]; rank: number };

const kinds: readonly { kind: DocsEntry["kind"]; name: string; icon: SearchEntry["icon"]; hasLowRank?: true }[] = [
  { kind: "operation", name: "Endpoints", icon: "webhooks" },
  { kind: "heading", name: "Headings of the guide", icon: "book" },
  { kind: "error", name: "Errors", icon: "requests" },
  // Names shared by many endpoints are rarely what users search for.
  { kind: "field", name: "Fields", icon: "settings", hasLowRank: true },
];

/** Matches in guide and reference, by kind. Endpoints also match by path. */
function matchDocs(entries: readonly DocsEntry[], words: string, countMax: number): Group[] {
  return kinds.map(({ kind, name, icon, hasLowRank }) => {
    const own = entries.filter((entry) => entry.kind === kind);
    const matches = matchEntries(own, words, countMax);
    return {
      name,
      entries: matches.entries.map(({ to, title, detail }) => ({ to, title, detail, icon })),
      rank: matches.rank + (hasLowRank === true ? 0.5 : 0),
    };
  });
}

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

const actions: readonly Page[] = [
  { to: "/console/keys?key=new", title: "Create an API key", icon: "plus" },
  { to: "/console/webhooks?add=1", title: "Create a webhook endpoint", icon: "plus" },
  { to: "/console/billing", title: "Add credit", icon: "plus", alias: "top up pay redeem code" },
];

const openPages: readonly Page[] = [
  { to: "/docs", title: "API reference", icon: "book", alias: "docs openapi" },
  { to: "/docs/guide", title: "Guide", icon: "book", alias: "docs quick start" },
];

const pages: readonly Page[] = [
  ...consoleNavigation
    .flatMap(({ places }) => places)
    .map(({ to, name, icon }): Page => ({ to, title: name, icon, alias: aliases[to] })),
  ...openPages,
];

const chapters: readonly Page[] = chapterGroups.flatMap((group) =>
  group.chapters.map((chapter) => ({
    to: getChapterPath(chapter.id),
    title: chapter.title,
    detail: group.name,
    icon: "book" as const,
  })),
);

/** Title and URL of a search hit. */
function describeHit(hit: SearchHit, timeZone: string): SearchEntry {
  const { id, name, status, task_id: taskId, created_at: createdAt } = hit;
  const detail = [id, formatMoment(createdAt, timeZone)].join(" · ");
  const toTask = `/console/tasks/${taskId}`;
  switch (hit.object) {
    case "request":
      return { to: `/console/requests/${id}`, title: name, detail, tag: `Request, ${status}`, icon: "requests" };
    case "task":
      return { to: `/console/tasks/${id}`, title: name, detail, tag: `Task, ${status}`, icon: "tasks" };
    case "charge":
      return { to: `/console/usage/charges/${id}`, title: name, detail, tag: "Charge", icon: "billing" };
    case "ledger_entry": {
      const day = findDay(new Date(createdAt), timeZone);
      const to = `/console/billing?from=${day}&to=${day}`;
      return { to, title: nameEntry(name), detail, tag: "Statement", icon: "billing" };
    }
    case "key": {
      const isEnded = status === "ended";
      const to = `/console/keys?${isEnded ? "ended=1&" : ""}key=${id}`;
      return { to, title: name, detail, tag: isEnded ? "API key, ended" : "API key", icon: "keys" };
    }
    case "file":
      // Files have no page: an output links to its task, other files download.
      if (taskId !== null) return { to: toTask, title: name, detail, tag: "Output of a task", icon: "tasks" };
      return {
        to: `/console/api/files/${id}/content`,
        title: name,
        detail,
        tag: "Download file",
        icon: "download",
        opens: "download",
      };
    case "event":
      if (taskId !== null) return { to: toTask, title: name, detail, tag: "Event of a task", icon: "webhooks" };
      return { to: "/console/webhooks", title: name, detail, tag: "Event", icon: "webhooks" };
    case "webhook_endpoint":
      return { to: `/console/webhooks/${id}`, title: name, detail, tag: "Webhook endpoint", icon: "webhooks" };
  }
}

function describeModel({ id, name, type }: Pick<Model, "id" | "name" | "type">): SearchEntry {
  const path = id.split("/").map(encodeURIComponent).join("/");
  return { to: `/console/models/${path}`, title: id, detail: name, tag: `${nameType(type)} model`, icon: "models" };
}

function nameEntry(kind: string): string {
  const words = kind.replaceAll("_", " ");
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
}
