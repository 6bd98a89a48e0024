import { Value } from "typebox/value";
import { parseDocument } from "yaml";
import { AppError } from "../../platform/errors/app-error.ts";
import { describeRule } from "../../platform/errors/validation-problem.ts";
import { findUndrawable } from "./find-undrawable.ts";
import { documentKinds, findPrefix, type InvoiceTerms, invoiceTermsSchema } from "./invoice-terms.ts";

const problemsShownMax = 10;

/** Parses the operator's file; throws with every mistake and its place. */
export function parseTerms(source: string): InvoiceTerms {
  const document = parseDocument(source, { prettyErrors: true });
  const [broken] = document.errors;
  if (broken !== undefined) throw createInvalid([`This is not valid YAML: ${broken.message}`]);
  const file: unknown = document.toJS({ maxAliasCount: 100 });
  const findings = Value.Errors(invoiceTermsSchema, file);
  if (findings.length > 0) throw createInvalid(findings.flatMap(describeFinding));
  const terms = file as InvoiceTerms;
  const problems = [...listTaxProblems(terms), ...listNumberProblems(terms), ...listTextProblems(terms)];
  if (problems.length > 0) throw createInvalid(problems);
  return terms;
}

function describeFinding(finding: {
  keyword: string;
  instancePath: string;
  params: object;
  message: string;
}): string[] {
  const params = finding.params as Record<string, unknown>;
  const place = presentPlace(finding.instancePath);
  switch (finding.keyword) {
    case "boolean":
      return [`${place} is not a field of invoice terms. Remove it, or correct its name.`];
    case "additionalProperties":
      // Each additional property has a finding of its own.
      return [];
    case "required":
      return (params.requiredProperties as string[]).map(
        (name) => `${place === "The file" ? "" : `${place}.`}${name} is missing. Add it.`,
      );
    default:
      return [`${place} ${describeRule({ ...finding, params })}.`];
  }
}

function presentPlace(instancePath: string): string {
  return instancePath === "" ? "The file" : instancePath.slice(1).replaceAll("/", ".");
}

/** A payment without a rule would have no tax: the operator must say so. */
function listTaxProblems({ tax = [] }: InvoiceTerms): string[] {
  const tooFine = tax.flatMap(({ rate }, index) =>
    /^\d+(\.\d{1,3})?$/.test(String(rate)) ? [] : [`tax.${index}.rate must have at most 3 decimal places.`],
  );
  const last = tax.at(-1);
  if (last === undefined || (last.country === "*" && last.tax_id === undefined)) return tooFine;
  return [
    ...tooFine,
    'tax has no rule for all other countries. End the list with `{country: "*", rate: 0}` or another rate.',
  ];
}

/** Any year shows whether two series could meet. */
const someDay = new Date("2026-01-01T00:00:00Z");

function listNumberProblems(terms: InvoiceTerms): string[] {
  const prefixes = new Set(documentKinds.map((kind) => findPrefix(terms, kind, someDay)));
  return prefixes.size === documentKinds.length ? [] : ["numbers has the same prefix twice. Give each kind its own."];
}

function listTextProblems({ seller, tax = [], footer = "" }: InvoiceTerms): string[] {
  const texts = {
    ...seller,
    footer,
    ...Object.fromEntries(tax.map(({ note = "" }, index) => [`tax.${index}.note`, note])),
  };
  return Object.entries(texts).flatMap(([name, text]) => {
    const character = findUndrawable(text);
    return character === null
      ? []
      : [`${name} contains ${JSON.stringify(character)}, which the fonts of documents do not have.`];
  });
}

function createInvalid(problems: readonly string[]): AppError {
  const shown = problems.slice(0, problemsShownMax);
  const more = problems.length - shown.length;
  const lines = more > 0 ? [...shown, `${more} more.`] : shown;
  return new AppError("invalid_parameter", lines.join("\n"), { param: "file" });
}
