type Announcement = { text: string; level: "info" | "warning" | "critical"; url: string | null };

type Brand = {
  name: string;
  /** The address of an image on this site. */
  logo: string | null;
  links: Record<"support" | "terms" | "privacy" | "status", string | null>;
  announcement: Announcement | null;
};

const ours: Brand = {
  name: "Sluice",
  logo: null,
  links: { support: null, terms: null, privacy: null, status: null },
  announcement: null,
};

/** Whose site it is, as the operator's settings say: the server writes it into every page. */
export const brand: Brand = readBrand();

function readBrand(): Brand {
  const text = document.getElementById("brand")?.textContent ?? null;
  // The server escapes and writes it; nobody else can. Development serves pages without it.
  return text === null ? ours : (JSON.parse(text) as Brand);
}
