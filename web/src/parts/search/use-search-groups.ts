import { useEffect, useState } from "react";
import { queryTable } from "../../api/query-table.ts";
import { useTableQuery } from "../../api/use-table-query.ts";
import { useSession } from "../session/use-session.ts";
import { describeHit, describeModel } from "./describe-hit.ts";
import { actions, chapters, listPages, type PlaceGroup } from "./list-pages.ts";
import { matchEntries } from "./match-entries.ts";
import { listRecentEntries } from "./recent-entries.ts";
import type { SearchGroup } from "./search-entry.ts";

/** Until nobody types: then the server is asked. */
const pauseMs = 120;
const entriesMax = 5;

type Found = { groups: SearchGroup[]; isSearching: boolean; error: Error | null };

/** What a text leads to: at once what the page knows itself, and in a moment what the account has. */
export function useSearchGroups(text: string, places: readonly PlaceGroup[]): Found {
  const { account } = useSession();
  const words = text.trim();
  const asked = useSettled(words);
  const hits = useTableQuery(queryTable.search.account(asked), { isEnabled: asked !== "" });
  const models = useTableQuery(queryTable.models.list());
  if (words === "") {
    const groups = [
      { name: "Recent", entries: listRecentEntries(account.id) },
      { name: "Pages", entries: listPages(places) },
      { name: "Actions", entries: actions },
    ];
    return { groups: groups.filter(isFilled), isSearching: false, error: null };
  }
  const own = asked === words ? (hits.data?.data ?? []) : [];
  const known = [
    { name: "Pages", ...matchEntries(listPages(places), words, entriesMax) },
    { name: "Actions", ...matchEntries(actions, words, entriesMax) },
    { name: "Models", ...matchEntries((models.data?.data ?? []).map(describeModel), words, entriesMax) },
    { name: "Guide", ...matchEntries(chapters, words, entriesMax) },
  ];
  const groups = [
    { name: "In your account", entries: own.map((hit) => describeHit(hit, account.time_zone)) },
    ...known.toSorted((a, b) => a.rank - b.rank),
  ];
  return {
    groups: groups.filter(isFilled),
    isSearching: asked !== words || hits.isLoading || models.isLoading,
    error: asked === words ? hits.error : null,
  };
}

function isFilled({ entries }: SearchGroup): boolean {
  return entries.length > 0;
}

/** A text once it has not changed for a moment. */
function useSettled(text: string): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), pauseMs);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}
