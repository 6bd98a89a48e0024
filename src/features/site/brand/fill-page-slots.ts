import { escapeHtml } from "../sign-in/sign-in-mails.ts";
import type { PageParts } from "../site-files.ts";
import type { Brand } from "./brand.ts";

type ShownBrand = Pick<Brand, "name" | "links" | "announcement"> & { logo: string | null };

/** The public URLs of site and API. */
export type SiteAddresses = { siteUrl: string; baseUrl: string };

const wordSlot = /%(brand-name|site-url|base-url)%/g;
const logoSlot = /<img src="%brand-logo%"[^>]*>/g;
const announcementSlot = /<section aria-label="Announcement".*?<\/section>/gs;
const linksSlot = /<ul aria-label="About this service".*?<\/ul>/gs;
const statusSlot = /<section aria-label="Current status" aria-busy="true".*?<\/section>/s;
const linkSlot = /<li><a href="%(support|status|terms|privacy)%".*?<\/li>/gs;

type Dress = { parts: PageParts; brand: ShownBrand; addresses: SiteAddresses };

/** Fills the brand and address slots of a prerendered page. */
export function fillPageSlots(body: string, { parts, brand, addresses }: Dress): string {
  const words: Record<string, string> = {
    "brand-name": escapeHtml(brand.name),
    "site-url": escapeHtml(addresses.siteUrl),
    "base-url": escapeHtml(addresses.baseUrl),
  };
  // Replace these in one pass, so the operator's text is never taken for a slot.
  return body
    .replace(wordSlot, (slot, name: string) => words[name] ?? slot)
    .replace(logoSlot, (slot) => (brand.logo === null ? parts.mark : slot.replace("%brand-logo%", brand.logo)))
    .replace(announcementSlot, () => presentAnnouncement(parts, brand))
    .replace(linksSlot, (slot) => presentLinks(slot, brand));
}

/** Replaces the placeholder of the status page by its rendered data. */
export function fillStatusSlot(body: string, markup: string): string {
  return body.replace(statusSlot, () => markup);
}

function presentAnnouncement(parts: PageParts, { announcement }: ShownBrand): string {
  if (announcement === null) return "";
  const { text, level, url } = announcement;
  const bar = parts.announcements[`${level} ${url === null ? "plain" : "linked"}`] ?? "";
  return bar
    .replace("%announcement-url%", () => escapeHtml(url ?? ""))
    .replace("%announcement%", () => escapeHtml(text));
}

function presentLinks(slot: string, { links }: ShownBrand): string {
  if (Object.values(links).every((url) => url === null)) return "";
  return slot.replace(linkSlot, (item, name: keyof Brand["links"]) =>
    links[name] === null ? "" : item.replace(`%${name}%`, () => escapeHtml(links[name] ?? "")),
  );
}
