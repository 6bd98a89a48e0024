export type BrandAnnouncement = { text: string; level: "info" | "warning" | "critical"; url: string | null };

export type Brand = {
  name: string;
  /** The address of an image on this site. */
  logo: string | null;
  /** The address of the operator's colours. */
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

/** Where a page that the build renders has what the server fills in when it starts: `dress-page.ts` knows these words. */
export const slotBrand = {
  name: "%brand-name%",
  logo: "%brand-logo%",
  styles: null,
  links: { support: "%support%", terms: "%terms%", privacy: "%privacy%", status: "%status%" },
  announcement: { text: "%announcement%", level: "info", url: "%announcement-url%" },
} as const satisfies Brand;

/** Whose site it is, as the operator's settings said when this page was loaded: the server writes it into every page. */
export const loadedBrand: Brand = import.meta.env.SSR ? slotBrand : readBrand(document);

/** Whose site it is now. There is no other place for it than the page itself. */
export async function askBrand(): Promise<Brand> {
  // biome-ignore lint/style/noRestrictedGlobals: this is the browser, and a page is no part of the console's API.
  const response = await fetch("/sign-in", { headers: { accept: "text/html" } });
  if (!response.ok) throw new Error(`The page was answered with ${response.status}.`);
  return readBrand(new DOMParser().parseFromString(await response.text(), "text/html"));
}

function readBrand(page: Document): Brand {
  const text = page.getElementById("brand")?.textContent ?? null;
  // The server escapes and writes it; nobody else can. Development serves pages without it.
  return text === null ? ours : (JSON.parse(text) as Brand);
}
