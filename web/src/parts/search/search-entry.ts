import type { IconName } from "../../design/icon.tsx";

export type SearchEntry = {
  /** Its URL and key: a page of the site, unless `opens` is set. */
  to: string;
  title: string;
  /** Distinguishes entries with the same title. */
  detail?: string | undefined;
  /** Kind of the entry, if its group does not name it. */
  tag?: string;
  icon: IconName;
  /** For a file that downloads. */
  opens?: "download";
};

export type SearchGroup = { name: string; entries: readonly SearchEntry[] };
