import { hash } from "node:crypto";
import { expect, test } from "vitest";
import type { DocumentContent } from "./billing-document.ts";
import { renderDocument } from "./render-document.ts";

const content: DocumentContent = {
  layout: 1,
  title: "Invoice and receipt",
  seller: {
    name: "Beispiel KI GmbH",
    address: "Straße der Gärten 1\n10115 Berlin",
    country: "DE",
    taxId: "DE123456789",
    email: "billing@example.com",
    registration: "HRB 12345 B",
  },
  buyer: {
    legalName: "北京示例科技有限公司",
    address: "Οδός Παραδείγματος 5\nул. Примерная, 7\nשדרות רוטשילד 12",
    country: "GR",
    taxId: "EL123456789",
    purchaseOrder: "PO 4711",
    accountId: "acct_1",
    email: "ada@example.com",
  },
  facts: [{ name: "Paid on", value: "2026-11-19" }],
  lines: [{ text: "Prepaid credit for API usage", amount: "20000000000" }],
  tax: { name: "VAT", rate: 0, note: "Reverse charge: the recipient owes the VAT.", net: "20000000000", tax: "0" },
  totalName: "Total, paid",
  total: "20000000000",
  remark: "Nothing is left to pay.",
  footer: "Managing director: Ada Example",
};

const document = { prefix: "INV-", number: 42n, issuedAt: new Date("2026-11-19T10:00:00Z"), currency: "EUR", content };

// The bytes of layout 1. If a package's update changes them, documents that customers have would change: keep the old drawing
// for the old layout, and draw new documents with another.
const layoutHash = "7a689e77b13b604e346552d761e02c81396f5940374f014e1ca47894a78a74fb";

test("a document is drawn with the same bytes each time, also by later versions", async () => {
  const bytes = await renderDocument(document);
  expect((await renderDocument(document)).equals(bytes)).toBe(true);
  expect(bytes.subarray(0, 5).toString()).toBe("%PDF-");
  expect(hash("sha256", bytes, "hex")).toBe(layoutHash);
});

test("fonts for every script of the names are embedded, and nothing is loaded from outside", async () => {
  const text = (await renderDocument(document)).toString("latin1");
  expect([...text.matchAll(/\/FontName \/[A-Z]{6}\+(\S+)/g)].map(([, name]) => name).toSorted()).toEqual([
    "DejaVuSans",
    "NotoSansSCThin-Regular",
  ]);
  expect(text.match(/\/FontFile2/g)).toHaveLength(2);
  expect(text).not.toMatch(/\/URI|\/JavaScript|\/Launch/);
});

test("a long statement continues on further pages, each with its number", async () => {
  const lines = Array.from({ length: 90 }, (_, index) => ({ text: `model-${index}, 3 calls`, amount: "-1250000" }));
  const text = (await renderDocument({ ...document, content: { ...content, lines } })).toString("latin1");
  expect(text.match(/\/Type \/Page\n/g)).toHaveLength(4);
});
