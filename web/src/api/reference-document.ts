/** One field of a body, or a parameter. What is inside of it follows, if it can be looked into. */
export type Field = {
  name: string;
  /** In words: "string or null", "list of objects". */
  type: string;
  isRequired?: true;
  /** Markdown of which only code is used. */
  text?: string;
  /** Its default and its limits, each in a few words. */
  facts?: string[];
  /** Everything that it may be, as JSON writes it. */
  values?: string[];
  fields?: Field[];
  /** Where it has one of several forms. */
  variants?: Variant[];
};

export type Variant = { title: string; fields: Field[]; text?: string };

export type Parameter = Field & { place: "path" | "query" | "header"; example?: string };

/** A body in one of the forms that it can have. */
export type Content = {
  mediaType: string;
  fields: Field[];
  variants?: Variant[];
  /** As it is shown: JSON is written out already. */
  example?: string;
};

export type Answer = { status: string; contents: Content[] };

export type OperationError = { status: string; code: string; meaning: string };

export type ErrorExample = { status: string; example: string };

export type Sample = { id: string; label: string; code: string };

/** A line of the table of contents. */
export type OperationEntry = {
  /** The last part of its address. */
  slug: string;
  method: string;
  path: string;
  summary: string;
};

export type Operation = OperationEntry & {
  id: string;
  stability: string;
  /** Whether a call of it spends money. */
  isPaid: boolean;
  /** Paragraphs, in the same Markdown as the texts of fields. */
  description: string[];
  parameters: Parameter[];
  body: { isRequired: boolean; contents: Content[] } | null;
  answers: Answer[];
  errors: OperationError[];
  errorExamples: ErrorExample[];
  samples: [Sample, ...Sample[]];
};

export type AreaEntry = { slug: string; title: string; operations: OperationEntry[] };

/** A line of what can be looked for: a title, what it belongs to, and where it is. */
export type DocsEntry = {
  to: string;
  title: string;
  detail: string;
  kind: "operation" | "field" | "error" | "heading";
};
