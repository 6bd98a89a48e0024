import type { ModelType } from "./model.ts";

/** White lines on a coloured tile. */
function drawLogo({ from, to }: { from: string; to: string }, shape: string): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64" width="64" height="64">
<defs><linearGradient id="tile" x1="0" y1="0" x2="1" y2="1"><stop offset="0" stop-color="${from}"/><stop offset="1" stop-color="${to}"/></linearGradient></defs>
<rect width="64" height="64" rx="14" fill="url(#tile)"/>
<g fill="none" stroke="#fff" stroke-width="3.5" stroke-linecap="round" stroke-linejoin="round">${shape}</g>
</svg>
`;
}

/** The built-in logo of each model type. */
const logoByType: Record<ModelType, string> = {
  chat: drawLogo(
    { from: "#2f7fe0", to: "#1b4fae" },
    `<path d="M18 17h28a5 5 0 0 1 5 5v16a5 5 0 0 1-5 5H31l-9 7v-7h-4a5 5 0 0 1-5-5V22a5 5 0 0 1 5-5z"/><path d="M23 27h18M23 34h11"/>`,
  ),
  image: drawLogo(
    { from: "#23a58a", to: "#0f6a6b" },
    `<rect x="13" y="15" width="38" height="34" rx="5"/><circle cx="24" cy="26" r="3.5"/><path d="M14 43l11-10 8 7 7-8 11 10"/>`,
  ),
  video: drawLogo(
    { from: "#e0683a", to: "#a8323f" },
    `<rect x="12" y="17" width="40" height="30" rx="6"/><path d="M28 25.500l11 6.500-11 6.500z" fill="#fff"/>`,
  ),
  avatar: drawLogo(
    { from: "#8a63d2", to: "#53369c" },
    `<circle cx="32" cy="25" r="9"/><path d="M15 50c2-9 9-13 17-13s15 4 17 13"/>`,
  ),
  drama: drawLogo(
    { from: "#d0457f", to: "#7f2768" },
    `<rect x="13" y="27" width="38" height="23" rx="4"/><path d="M13 27l36-10M22 24.500l3-5.500M33 21.500l3-5.500"/><path d="M24 38h16"/>`,
  ),
  speech: drawLogo(
    { from: "#d99a2b", to: "#a35d1c" },
    `<path d="M15 28v8M23.500 22v20M32 15v34M40.500 22v20M49 28v8"/>`,
  ),
  embedding: drawLogo(
    { from: "#4b6a88", to: "#27384f" },
    `<path d="M16 14v34h34"/><path d="M16 48l24-24M31 23h10v10"/><circle cx="25" cy="21" r="2"/><circle cx="44" cy="41" r="2"/>`,
  ),
  transcription: drawLogo(
    { from: "#3f8fb5", to: "#245a86" },
    `<path d="M14 25v6M20.500 19v18M27 23v10"/><path d="M34 24h16M34 32h16M14 43h36"/>`,
  ),
};

const ownFolder = "/logos/";

function nameOwnLogo(type: ModelType): string {
  return `${ownFolder}${type}.svg`;
}

/** The logos that this server serves, by path. */
export const ownLogos: ReadonlyMap<string, string> = new Map(
  (Object.keys(logoByType) as ModelType[]).map((type) => [nameOwnLogo(type), logoByType[type]]),
);

/** Accepts a public https address or a built-in logo. */
export function isLogo(text: string): boolean {
  const address = URL.parse(text);
  const isPublic = address?.protocol === "https:" && address.username === "" && address.password === "";
  return isPublic || ownLogos.has(text);
}

/** The URL of a model's logo; without one, of its type's. */
export function presentLogo({ logo, type }: { logo: string; type: ModelType }, siteUrl: string): string {
  const known = isLogo(logo) ? logo : nameOwnLogo(type);
  return ownLogos.has(known) ? `${siteUrl}${known}` : known;
}
