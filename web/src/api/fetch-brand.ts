export type BrandAnnouncement = { text: string; level: "info" | "warning" | "critical"; url: string | null };

export type Brand = {
  name: string;
  /** URL of an image served by this site. */
  logo: string | null;
  /** URL of the stylesheet with the operator's colours. */
  styles: string | null;
  links: Record<"support" | "terms" | "privacy" | "status", string | null>;
  announcement: BrandAnnouncement | null;
};

const ours: Brand = {
  name: "Sluice",
  logo: null,
  styles: null,
  links: { support: null, terms: null, privacy: null, status: null },
  announcement: null,
};

/** Placeholders in prerendered pages. The server fills them in `fill-page-slots.ts`. */
export const slotBrand = {
  name: "%brand-name%",
  logo: "%brand-logo%",
  styles: null,
  links: { support: "%support%", terms: "%terms%", privacy: "%privacy%", status: "%status%" },
  announcement: { text: "%announcement%", level: "info", url: "%announcement-url%" },
} as const satisfies Brand;

/** The brand at page load, from the JSON block the server writes into every page. */
export const loadedBrand: Brand = import.meta.env.SSR ? slotBrand : readBrand(document);

/** The current brand, read from a freshly fetched page: there is no endpoint for it. */
export async function fetchBrand(): Promise<Brand> {
  // biome-ignore lint/style/noRestrictedGlobals: fetches an HTML page, not the console API.
  const response = await fetch("/sign-in", { headers: { accept: "text/html" } });
  if (!response.ok) throw new Error(`The page returned status ${response.status}.`);
  return readBrand(new DOMParser().parseFromString(await response.text(), "text/html"));
}

function readBrand(page: Document): Brand {
  const text = page.getElementById("brand")?.textContent ?? null;
  // Written and escaped by our server. The development server omits it.
  return text === null ? ours : (JSON.parse(text) as Brand);
}
