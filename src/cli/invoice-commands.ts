import { readFileSync, writeFileSync } from "node:fs";
import { findAccount } from "../features/accounts/index.ts";
import {
  applyTerms,
  type BillingDocument,
  documentKinds,
  findDocument,
  findTerms,
  listDocuments,
  presentNumber,
  renderDocument,
} from "../features/invoices/index.ts";
import { presentWithCurrency } from "../lib/currency.ts";
import { presentMoney } from "../lib/money.ts";
import type { Database } from "../platform/database/database.ts";
import { AppError } from "../platform/errors/app-error.ts";
import { OperatorError } from "../platform/errors/operator-error.ts";
import type { Command } from "./command.ts";
import { getActor } from "./get-acting.ts";
import { createWrongValue } from "./option-values.ts";
import { presentRows } from "./present-rows.ts";
import { systemDependencies } from "./system-dependencies.ts";
import { withDatabase } from "./with-database.ts";

const documentsShownMax = 100;

const listCommand: Command = {
  name: "invoice list",
  summary: `List the newest ${documentsShownMax} invoices, credit notes and statements.`,
  options: {
    account: { placeholder: "account id", description: "Only documents of this account." },
    kind: { placeholder: "word", description: `Only documents of this kind: ${documentKinds.join(", ")}.` },
    before: { placeholder: "document id", description: "Only documents issued before this one, for the next page." },
  },
  run: ({ options, terminal }) =>
    withDatabase(terminal, async (database) => {
      const kind = documentKinds.find((word) => word === options.kind);
      if (options.kind !== undefined && kind === undefined) {
        throw createWrongValue("kind", `one of ${documentKinds.join(", ")}`);
      }
      const account = options.account === undefined ? null : await findAccount(database, options.account);
      if (options.account !== undefined && account === null) {
        throw new AppError("not_found", `There is no account ${options.account}.`, { param: "account" });
      }
      const last = options.before === undefined ? null : await requireDocument(database, options.before);
      const documents = await listDocuments(database, {
        ...(account === null ? {} : { accountId: account.id }),
        ...(kind === undefined ? {} : { kind }),
        before: last?.position ?? null,
        limit: documentsShownMax,
      });
      const rows = documents.map((document) => [
        document.id,
        presentNumber(document),
        document.accountId,
        document.issuedAt.toISOString(),
        presentWithCurrency(document.total, document.currency),
        document.content.tax === null ? "-" : presentWithCurrency(document.tax, document.currency),
        document.paymentId ?? document.month ?? "-",
      ]);
      const headings = ["ID", "NUMBER", "ACCOUNT", "ISSUED", "TOTAL", "TAX", "PAYMENT OR MONTH"];
      return {
        json: documents.map(presentJson),
        text: rows.length === 0 ? "No documents." : presentRows(headings, rows),
      };
    }),
};

const showCommand: Command = {
  name: "invoice show",
  summary: "Show everything that a document states.",
  positionals: ["document id"],
  run: ({ positionals: [id = ""], terminal }) =>
    withDatabase(terminal, async (database) => {
      const document = await requireDocument(database, id);
      const { seller, buyer, facts, lines, tax, remark } = document.content;
      const { content: _content, ...fields } = presentJson(document);
      const rows = [
        ...Object.entries(fields),
        ["seller", describeParty({ ...seller })],
        ["buyer", describeParty({ ...buyer })],
        ...facts.map(({ name, value }) => [name.toLowerCase(), value]),
        ...(tax === null ? [] : [["tax rule", `${tax.name} ${tax.rate / 1000} %${tax.note ? `: ${tax.note}` : ""}`]]),
        ...lines.map(({ text, amount }) => [`line: ${text}`, presentStored(amount, document.currency)]),
        ["remark", remark],
      ].map(([name, value]) => [String(name), String(value ?? "-")]);
      return { json: presentJson(document), text: presentRows(["FIELD", "VALUE"], rows) };
    }),
};

const pdfCommand: Command = {
  name: "invoice pdf",
  summary: "Write a document as a PDF file, the same bytes that its owner downloads.",
  positionals: ["document id"],
  options: { output: { placeholder: "file", description: "The file to write. Default: <number>.pdf." } },
  run: ({ positionals: [id = ""], options, terminal }) =>
    withDatabase(terminal, async (database) => {
      const document = await requireDocument(database, id);
      const path = options.output ?? `${presentNumber(document)}.pdf`;
      const bytes = await renderDocument(document);
      try {
        writeFileSync(path, bytes);
      } catch (error) {
        throw new OperatorError(`Cannot write the file ${path}.`, "Choose another file with --output.", {
          cause: error,
        });
      }
      return { json: { file: path, bytes: bytes.length }, text: `Wrote ${path}.` };
    }),
};

const termsApplyCommand: Command = {
  name: "invoice terms apply",
  summary: "Put a file with the seller, the tax rules and the prefixes of numbers in force for later documents.",
  positionals: ["file"],
  run: ({ positionals: [path = ""], terminal }) =>
    withDatabase(terminal, async (database) => {
      const request = { source: readFile(path), actor: getActor() };
      const { version, isNew } = await applyTerms({ ...systemDependencies, database }, request);
      const text = isNew
        ? `Version ${version} is in force. Payments from now on are invoiced under it.`
        : `No changes. Version ${version} stays in force.`;
      return { json: { version, changed: isNew }, text };
    }),
};

const termsShowCommand: Command = {
  name: "invoice terms show",
  summary: "Print the terms in force as a file that you can edit and apply.",
  run: ({ terminal }) =>
    withDatabase(terminal, async (database) => {
      const { stringify } = await import("yaml");
      const applied = await findTerms(database);
      if (applied === null) {
        throw new OperatorError(
          "There are no invoice terms, so no documents are issued.",
          "Apply some: npm run -s sluice -- invoice terms apply <file>",
        );
      }
      const { version, terms, actor, appliedAt } = applied;
      const heading = `# Version ${version}, applied ${appliedAt.toISOString()} by ${actor}`;
      return {
        json: { version, actor, applied_at: appliedAt.toISOString(), terms },
        text: `${heading}\n${stringify(terms)}`.trimEnd(),
      };
    }),
};

export const invoiceCommands: readonly Command[] = [
  listCommand,
  showCommand,
  pdfCommand,
  termsApplyCommand,
  termsShowCommand,
];

async function requireDocument(database: Database, id: string): Promise<BillingDocument> {
  const document = await findDocument(database, { id });
  if (document !== null) return document;
  throw new AppError("not_found", `There is no document ${id}. List them: npm run -s sluice -- invoice list`);
}

function presentJson(document: BillingDocument) {
  const { id, accountId, kind, issuedAt, currency, total, tax, paymentId, channel, corrects, reversalId, month } =
    document;
  return {
    ...{ id, kind, number: presentNumber(document) },
    account_id: accountId,
    issued_at: issuedAt.toISOString(),
    ...{ currency, total: presentMoney(total) },
    tax: document.content.tax === null ? null : presentMoney(tax),
    payment_id: paymentId,
    ...{ channel, corrects },
    reversal_id: reversalId,
    month,
    content: document.content,
  };
}

function describeParty(fields: Readonly<Record<string, string | null>>): string {
  return Object.values(fields)
    .filter((value) => value !== null)
    .join(", ")
    .replaceAll("\n", ", ");
}

function presentStored(amount: string, currency: string): string {
  return presentWithCurrency(BigInt(amount) as Parameters<typeof presentWithCurrency>[0], currency);
}

function readFile(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new OperatorError(`Cannot read the file ${path}.`, "Check its name and permissions.", { cause: error });
  }
}
