/** What became of the bodies of a call: they are kept, or were lost before they were written, or somebody deleted them. */
export const contentStates = ["kept", "lost", "deleted"] as const;
export type ContentState = (typeof contentStates)[number];

/** What is kept of a body. */
export type KeptBody = {
  contentType: string | null;
  /** How long it was; `null` where nobody counted. */
  bytes: number | null;
  /** Without secrets; `null` where it was no text. */
  text: string | null;
  /** It was longer than what is kept. */
  isTruncated: boolean;
  /** How many characters of encoded files were left out of it. */
  leftOut: number;
  /** In how many places secrets, or parts of them, were taken out of it. */
  hidden: number;
};

export type KeptContent = { request: KeptBody; answer: KeptBody };

/** As the table has it. */
export type StoredContent = { state: ContentState; sealed: Buffer | null };
