import type { IconName } from "../../design/icon.tsx";

/** Something that the search box leads to. */
export type SearchEntry = {
  /** Its address, by which it is told from others: a page of the site, unless `opens` says something else. */
  to: string;
  title: string;
  /** What tells it from others of the same title. */
  detail?: string | undefined;
  /** What kind of thing it is, where its group does not say it. */
  tag?: string;
  icon: IconName;
  /** For what is no page of the site: a file that is saved. */
  opens?: "download";
};

export type SearchGroup = { name: string; entries: readonly SearchEntry[] };
