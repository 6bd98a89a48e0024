import { type Static, Type } from "typebox";

const line = (charactersMax: number) =>
  Type.String({ minLength: 1, maxLength: charactersMax, pattern: "^[^\\p{Cc}]*$" });

/** Numbers must end the name of a series, so that no two numbers are spelled alike. */
const prefix = Type.String({ pattern: "^([A-Za-z0-9-]|\\{year\\}){0,30}[A-Za-z-]$" });

const taxRuleSchema = Type.Object(
  {
    country: Type.String({ pattern: "^([A-Z]{2}|EU|\\*)$" }),
    tax_id: Type.Optional(Type.Enum(["with", "without"])),
    name: Type.Optional(line(20)),
    rate: Type.Number({ minimum: 0, exclusiveMaximum: 100 }),
    note: Type.Optional(line(200)),
  },
  { additionalProperties: false },
);

/** The operator's file of invoice terms. */
export const invoiceTermsSchema = Type.Object(
  {
    seller: Type.Object(
      {
        name: line(200),
        address: Type.String({ minLength: 1, maxLength: 500 }),
        country: Type.String({ pattern: "^[A-Z]{2}$" }),
        tax_id: Type.Optional(line(40)),
        email: Type.Optional(line(200)),
        registration: Type.Optional(line(200)),
      },
      { additionalProperties: false },
    ),
    numbers: Type.Optional(
      Type.Object(
        {
          invoice: Type.Optional(prefix),
          credit_note: Type.Optional(prefix),
          statement: Type.Optional(prefix),
        },
        { additionalProperties: false },
      ),
    ),
    tax: Type.Optional(Type.Array(taxRuleSchema, { maxItems: 300 })),
    footer: Type.Optional(line(400)),
  },
  { additionalProperties: false },
);

export type InvoiceTerms = Static<typeof invoiceTermsSchema>;
export type TaxRule = Static<typeof taxRuleSchema>;

/** A version of the terms. They are never changed, only replaced. */
export type AppliedTerms = { version: number; terms: InvoiceTerms; actor: string; appliedAt: Date };

export const documentKinds = ["invoice", "credit_note", "statement"] as const;
export type DocumentKind = (typeof documentKinds)[number];

const standardPrefixes: Record<DocumentKind, string> = { invoice: "INV-", credit_note: "CN-", statement: "ST-" };

/** The prefix of a document issued in this year. Another prefix begins another series, at 1. */
export function findPrefix({ numbers }: InvoiceTerms, kind: DocumentKind, issuedAt: Date): string {
  const template = numbers?.[kind] ?? standardPrefixes[kind];
  return template.replaceAll("{year}", String(issuedAt.getUTCFullYear()));
}

const digitsMin = 6;

/** A number as it is printed; `null` if it is none. A prefix does not end with a digit. */
export function parseNumber(text: string): { prefix: string; number: bigint } | null {
  const [, prefix, digits] = /^(.{0,40}?)(\d{6,18})$/.exec(text) ?? [];
  return prefix === undefined || digits === undefined ? null : { prefix, number: BigInt(digits) };
}

export function presentNumber({ prefix: begin, number }: { prefix: string; number: bigint }): string {
  return `${begin}${String(number).padStart(digitsMin, "0")}`;
}
