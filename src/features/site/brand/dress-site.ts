import { createHash } from "node:crypto";
import { escapeHtml } from "../sign-in/sign-in-mails.ts";
import { contentTypes, type SiteFile, type SiteFiles, type SitePage } from "../site-files.ts";
import type { Brand } from "./brand.ts";
import type { Accent, AccentColours } from "./brand-accent.ts";
import { dressPage, type SiteAddresses } from "./dress-page.ts";

/**
 * The built site in the operator's colours: name, links and announcement stand in its one document, so that the first paint
 * has them; colours and logo are assets of their own, so that pages that are open can change theirs.
 */
export function dressSite(files: SiteFiles, brand: Brand, addresses: SiteAddresses): SiteFiles {
  const assets = new Map(files.assets);
  const logo = brand.logo === null ? null : addAsset(assets, brand.logo.ending, brand.logo.bytes);
  const styles = brand.accent === null ? null : addAsset(assets, ".css", Buffer.from(presentStyles(brand.accent)));
  const shown = { name: brand.name, logo, styles, links: brand.links, announcement: brand.announcement };
  const block = `<script type="application/json" id="brand">${escapeForScript(JSON.stringify(shown))}</script>`;
  const link = styles === null ? "" : `<link rel="stylesheet" href="${styles}" />`;
  const dress = (shell: string): string =>
    shell
      .replace("<title>Sluice</title>", () => `<title>${escapeHtml(brand.name)}</title>`)
      .replace(/<html /, () => `<html data-brand="${escapeHtml(brand.name)}" `)
      .replace(/<link rel="icon" href="[^"]*"/, (icon) => (logo === null ? icon : `<link rel="icon" href="${logo}"`))
      .replace("</head>", () => `${link}${block}</head>`);
  const pages = new Map<string, SitePage>();
  const { parts } = files;
  for (const [path, page] of files.pages) {
    pages.set(path, { ...page, readBody: () => dressPage(page.readBody(), { parts, brand: shown, addresses }) });
  }
  return { ...files, shell: dress(files.shell), pages, assets };
}

function addAsset(assets: Map<string, SiteFile>, ending: string, plain: Buffer): string {
  const digest = createHash("sha256").update(plain).digest("base64url").slice(0, 12);
  const name = `brand-${digest}${ending}`;
  assets.set(name, { type: contentTypes[ending] ?? "application/octet-stream", plain, brotli: null, gzip: null });
  return `/assets/${name}`;
}

const tokens: Record<string, keyof AccentColours> = {
  "--accent": "accent",
  "--accent-strong": "strong",
  "--accent-soft": "soft",
  "--on-accent": "onAccent",
  "--water": "accent",
};

/** Twice the root, so that it counts for more than the site's own tokens, in whatever order the two come. */
function presentStyles({ light, dark }: Accent): string {
  const lines = Object.entries(tokens).map(([token, name]) => `${token}:light-dark(${light[name]},${dark[name]})`);
  return `:root:root{${lines.join(";")}}\n`;
}

/** Inside a script element only `<` can end it or open a comment; JSON can write it otherwise. */
export function escapeForScript(json: string): string {
  return json.replaceAll("<", "\\u003c").replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029");
}
