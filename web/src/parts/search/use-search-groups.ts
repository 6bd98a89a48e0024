import { useEffect, useState } from "react";
import { queryTable } from "../../api/query-table.ts";
import { useTableQuery } from "../../api/use-table-query.ts";
import { describeHit, describeModel } from "./describe-hit.ts";
import { actions, chapters, openPages, pages } from "./list-pages.ts";
import { matchDocs } from "./match-docs.ts";
import { matchEntries } from "./match-entries.ts";
import { listRecentEntries } from "./recent-entries.ts";
import type { SearchGroup } from "./search-entry.ts";

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
