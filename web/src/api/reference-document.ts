/** A field of a body, or a parameter, with its nested fields. */
export type Field = {
  name: string;
  /** Such as "string or null" or "list of objects". */
  type: string;
  isRequired?: true;
  /** Markdown with inline code only. */
  text?: string;
  /** Default and limits. */
  facts?: string[];
  /** Allowed values, as JSON. */
  values?: string[];
  fields?: Field[];
  /** One of several forms. */
  variants?: Variant[];
};

export type Variant = { title: string; fields: Field[]; text?: string };

export type Parameter = Field & { place: "path" | "query" | "header"; example?: string };

export type Content = {
  mediaType: string;
  fields: Field[];
  variants?: Variant[];
  /** Ready to show; JSON is already formatted. */
  example?: string;
};

export type Answer = { status: string; contents: Content[] };

export type OperationError = { status: string; code: string; meaning: string };

export type ErrorExample = { status: string; example: string };

export type Sample = { id: string; label: string; code: string };

/** A line of the table of contents. */
export type OperationEntry = {
  /** Last segment of its URL. */
  slug: string;
  method: string;
  path: string;
  summary: string;
};

export type Operation = OperationEntry & {
  id: string;
  stability: string;
  /** Whether a call costs money. */
  isPaid: boolean;
  /** Paragraphs in the same Markdown as field descriptions. */
  description: string[];
  parameters: Parameter[];
  body: { isRequired: boolean; contents: Content[] } | null;
  answers: Answer[];
  errors: OperationError[];
  errorExamples: ErrorExample[];
  samples: [Sample, ...Sample[]];
};

export type AreaEntry = { slug: string; title: string; operations: OperationEntry[] };

/** A search entry: title, context and URL. */
export type DocsEntry = {
  to: string;
  title: string;
  detail: string;
  kind: "operation" | "field" | "error" | "heading";
};
