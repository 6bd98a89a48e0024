/** `lost`: dropped before it was written. `deleted`: by a member of the account. */
export const contentStates = ["kept", "lost", "deleted"] as const;
export type ContentState = (typeof contentStates)[number];

/** What is stored of a body. */
export type KeptBody = {
  contentType: string | null;
  /** Its length; `null` if it was not counted. */
  bytes: number | null;
  /** Without secrets; `null` if it was not text. */
  text: string | null;
  /** Only the beginning is stored. */
  isTruncated: boolean;
  /** How many characters of encoded files were removed. */
  leftOut: number;
  /** How many secrets, or parts of them, were replaced. */
  hidden: number;
};

export type KeptContent = { request: KeptBody; answer: KeptBody };

/** As stored in the table. */
export type StoredContent = { state: ContentState; sealed: Buffer | null };
