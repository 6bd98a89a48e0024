import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type PdfKit from "pdfkit";
import { presentWithCurrency } from "../../lib/currency.ts";
import { nano } from "../../lib/money.ts";
import { type FontName, fontNames, fontsDir, loadFontMetrics } from "../../platform/text/font-metrics.ts";
import type { BillingDocument, Buyer, DocumentContent, Seller } from "./billing-document.ts";
import { presentNumber } from "./invoice-terms.ts";
import { type Line, layOutText, type Typeface } from "./lay-out-text.ts";
import { nameTax, presentDay } from "./write-content.ts";

type Drawn = Pick<BillingDocument, "prefix" | "number" | "issuedAt" | "currency" | "content">;
type Pdf = InstanceType<typeof PdfKit>;

/** A4 in points, with margins that a printer and a punch leave. */
const page = { width: 595.28, height: 841.89, left: 64, right: 56, top: 60, bottom: 64 } as const;
const contentWidth = page.width - page.left - page.right;
const ink = "#1a1a1a";
const soft = "#6b6b6b";
const rule = "#d4d4d4";
const body = 9;
const lead = 1.45;

type FontFile = { name: FontName; bytes: Buffer };

let fontFiles: Promise<FontFile[]> | null = null;

function loadFonts(): Promise<FontFile[]> {
  fontFiles ??= Promise.all(fontNames.map(async (name) => ({ name, bytes: await readFile(join(fontsDir, name)) })));
  return fontFiles;
}

/**
 * Draws a document from what was stored when it was issued: the same bytes each time. The streams are not compressed, since
 * the compression differs between versions of zlib.
 */
export async function renderDocument(document: Drawn): Promise<Buffer> {
  const { issuedAt, content } = document;
  // Imported on first use: most processes draw no document.
  const { default: PdfDocument } = await import("pdfkit");
  const fonts = await loadFonts();
  const title = `${content.title} ${presentNumber(document)}`;
  const pdf = new PdfDocument({
    size: [page.width, page.height],
    margin: 0,
    compress: false,
    bufferPages: true,
    lang: "en",
    displayTitle: true,
    // pdfkit would load a font of its own.
    font: null as unknown as string,
    info: {
      Title: title,
      Author: content.seller.name,
      Creator: "Sluice",
      Producer: "Sluice",
      CreationDate: issuedAt,
      ModDate: issuedAt,
    },
  });
  const chunks: Buffer[] = [];
  const done = new Promise<Buffer>((resolve, reject) => {
    pdf.on("data", (chunk: Buffer) => chunks.push(chunk));
    pdf.on("end", () => resolve(Buffer.concat(chunks)));
    pdf.on("error", reject);
  });
  for (const { name, bytes } of fonts) pdf.registerFont(name, bytes);
  draw(createPen(pdf), document);
  pdf.end();
  return await done;
}

type Style = { size?: number; colour?: string; isStrong?: boolean; align?: "left" | "right" };

type Pen = {
  /** Draws lines of text at a place and returns their height. */
  write(text: string, place: { x: number; y: number; width: number }, style?: Style): number;
  line(y: number): void;
  addPage(): void;
  /** Draws on each page, at the end. */
  onEachPage(work: (page: number, pages: number) => void): void;
};

function createPen(pdf: Pdf): Pen {
  const metrics = loadFontMetrics();
  const typefaceOf = (size: number): Typeface<FontName> => ({
    // A character that no font has, such as in a model's name, is drawn as a box.
    choose: (cluster) => metrics.findFont(cluster) ?? fontNames[0],
    measure: (text, font) => pdf.font(font).fontSize(size).widthOfString(text),
  });
  function writeLine(
    { pieces, width }: Line<FontName>,
    x: number,
    y: number,
    style: Required<Style>,
    widthMax: number,
  ): void {
    let at = style.align === "right" ? x + widthMax - width : x;
    for (const { text, font } of pieces) {
      pdf.font(font).fontSize(style.size).fillColor(style.colour);
      const options = { lineBreak: false, baseline: "alphabetic" as const };
      // The bundled fonts have no bold face: a thin outline makes one.
      if (style.isStrong) pdf.lineWidth(style.size * 0.035).strokeColor(style.colour);
      pdf.text(text, at, y + style.size, style.isStrong ? { ...options, fill: true, stroke: true } : options);
      at += pdf.widthOfString(text);
    }
  }

  return {
    write(text, { x, y, width }, style = {}) {
      const whole = { size: body, colour: ink, isStrong: false, align: "left", ...style } as const;
      const lines = layOutText(text, width, typefaceOf(whole.size));
      for (const [index, line] of lines.entries()) writeLine(line, x, y + index * whole.size * lead, whole, width);
      return lines.length * whole.size * lead;
    },
    line(y) {
      pdf
        .moveTo(page.left, y)
        .lineTo(page.width - page.right, y)
        .lineWidth(0.6)
        .strokeColor(rule)
        .stroke();
    },
    addPage: () => void pdf.addPage(),
    onEachPage(work) {
      const { count } = pdf.bufferedPageRange();
      for (let index = 0; index < count; index += 1) {
        pdf.switchToPage(index);
        work(index + 1, count);
      }
    },
  };
}

function draw(pen: Pen, document: Drawn): void {
  const { content } = document;
  const under = drawHead(pen, document);
  const y = drawLines(pen, document, under);
  const end = drawTotals(pen, document, y);
  if (content.remark !== null) {
    const place = makeRoom(pen, end + 24, 40);
    pen.write(content.remark, { x: page.left, y: place, width: contentWidth }, { colour: soft });
  }
  pen.onEachPage((number, pages) => drawFoot(pen, content, { number, pages, name: presentNumber(document) }));
}

function drawHead(pen: Pen, document: Drawn): number {
  const { content, issuedAt } = document;
  const half = contentWidth / 2 - 12;
  const right = page.left + contentWidth / 2 + 12;
  let y: number = page.top;
  y += pen.write(content.title, { x: page.left, y, width: contentWidth }, { size: 20, isStrong: true }) + 18;
  const names = [
    { name: "Number", value: presentNumber(document) },
    { name: "Date of issue", value: presentDay(issuedAt) },
    ...content.facts,
  ];
  for (const { name, value } of names) {
    pen.write(name, { x: page.left, y, width: 110 }, { colour: soft });
    y += pen.write(value, { x: page.left + 110, y, width: contentWidth - 110 });
  }
  y += 22;
  const fromHeight = drawParty(pen, "From", listSeller(content.seller), { x: page.left, y, width: half });
  const toHeight = drawParty(pen, "To", listBuyer(content.buyer), { x: right, y, width: half });
  return y + Math.max(fromHeight, toHeight) + 28;
}

function drawParty(
  pen: Pen,
  heading: string,
  lines: readonly string[],
  place: { x: number; y: number; width: number },
) {
  let y = place.y;
  y += pen.write(heading, { ...place, y }, { colour: soft }) + 2;
  for (const [index, line] of lines.entries()) {
    y += pen.write(line, { ...place, y }, { isStrong: index === 0 });
  }
  return y - place.y;
}

function listSeller({ name, address, country, taxId, email, registration }: Seller): string[] {
  return [
    name,
    ...address.split("\n"),
    country,
    ...(taxId === null ? [] : [`Tax id ${taxId}`]),
    ...(registration === null ? [] : [registration]),
    ...(email === null ? [] : [email]),
  ];
}

function listBuyer({ legalName, address, country, taxId, purchaseOrder, email, accountId }: Buyer): string[] {
  return [
    legalName ?? email,
    ...(address === null ? [] : address.split("\n")),
    ...(country === null ? [] : [country]),
    ...(taxId === null ? [] : [`Tax id ${taxId}`]),
    ...(legalName === null ? [] : [email]),
    `Account ${accountId}`,
    ...(purchaseOrder === null ? [] : [`Purchase order ${purchaseOrder}`]),
  ];
}

const amountWidth = 150;

function drawLines(pen: Pen, { content, currency }: Drawn, top: number): number {
  const textWidth = contentWidth - amountWidth - 12;
  const amountX = page.width - page.right - amountWidth;
  let y = top;
  pen.write("Description", { x: page.left, y, width: textWidth }, { colour: soft });
  y += pen.write(`Amount`, { x: amountX, y, width: amountWidth }, { colour: soft, align: "right" }) + 4;
  pen.line(y);
  y += 8;
  for (const { text, amount, isSum = false } of content.lines) {
    y = makeRoom(pen, y, 30);
    const shown = presentWithCurrency(nano(BigInt(amount)), currency);
    pen.write(shown, { x: amountX, y, width: amountWidth }, { align: "right", isStrong: isSum });
    y += pen.write(text, { x: page.left, y, width: textWidth }, { isStrong: isSum }) + 5;
  }
  pen.line(y + 3);
  return y + 12;
}

function drawTotals(pen: Pen, { content, currency }: Drawn, top: number): number {
  const { tax, total, totalName } = content;
  const show = (amount: string): string => presentWithCurrency(nano(BigInt(amount)), currency);
  const rows = [
    ...(tax === null
      ? []
      : [
          { name: `Net`, amount: show(tax.net), isStrong: false },
          { name: nameTax(tax), amount: show(tax.tax), isStrong: false },
        ]),
    { name: totalName, amount: show(total), isStrong: true },
  ];
  const x = page.left + contentWidth / 2 - 40;
  const width = page.width - page.right - x;
  let y = makeRoom(pen, top, rows.length * 18 + 30);
  for (const { name, amount, isStrong } of rows) {
    pen.write(name, { x, y, width: width - amountWidth }, { colour: isStrong ? ink : soft, isStrong });
    y += pen.write(amount, { x: x + width - amountWidth, y, width: amountWidth }, { align: "right", isStrong }) + 4;
  }
  if (tax?.note) y += pen.write(tax.note, { x: page.left, y: y + 12, width: contentWidth }) + 12;
  return y;
}

/** Begins a new page if less than the height is left above the foot. */
function makeRoom(pen: Pen, y: number, height: number): number {
  if (y + height <= page.height - page.bottom - 20) return y;
  pen.addPage();
  return page.top;
}

function drawFoot(
  pen: Pen,
  { footer }: DocumentContent,
  { number, pages, name }: { number: number; pages: number; name: string },
): void {
  const y = page.height - page.bottom;
  pen.line(y - 8);
  const style = { size: 7.5, colour: soft } as const;
  if (footer !== null) pen.write(footer, { x: page.left, y, width: contentWidth - 120 }, style);
  const place = { x: page.width - page.right - 110, y, width: 110 };
  pen.write(pages === 1 ? name : `${name}, ${number}/${pages}`, place, { ...style, align: "right" });
}
