import type { DocsEntry } from "../../api/reference-document.ts";
import { matchEntries } from "./match-entries.ts";
import type { SearchEntry } from "./search-entry.ts";

type Group = { name: string; entries: SearchEntry[]; rank: number };

const kinds: readonly { kind: DocsEntry["kind"]; name: string; icon: SearchEntry["icon"]; hasLowRank?: true }[] = [
  { kind: "operation", name: "Endpoints", icon: "webhooks" },
  { kind: "heading", name: "Headings of the guide", icon: "book" },
  { kind: "error", name: "Errors", icon: "requests" },
  // Names shared by many endpoints are rarely what users search for.
  { kind: "field", name: "Fields", icon: "settings", hasLowRank: true },
];

/** Matches in guide and reference, by kind. Endpoints also match by path. */
export function matchDocs(entries: readonly DocsEntry[], words: string, countMax: number): Group[] {
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
