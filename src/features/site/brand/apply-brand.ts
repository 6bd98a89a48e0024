import { createHash } from "node:crypto";
import type { Mail } from "../../../platform/mail/create-mailer.ts";
import { escapeHtml } from "../sign-in/sign-in-mails.ts";
import { contentTypes, type SiteFile, type SiteFiles, type SitePage } from "../site-files.ts";
import type { Brand } from "./brand.ts";
import type { Accent, AccentColours } from "./brand-accent.ts";
import { fillPageSlots, type SiteAddresses } from "./fill-page-slots.ts";

/**
 * Applies the brand to the built site. Name, links and announcement go into the HTML, so the first paint has them.
 * Colours and logo are assets, so open pages can switch.
 */
export function applyBrand(files: SiteFiles, brand: Brand, addresses: SiteAddresses): SiteFiles {
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
    pages.set(path, { ...page, readBody: () => fillPageSlots(page.readBody(), { parts, brand: shown, addresses }) });
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

/** `:root:root` outranks the site's own tokens in any stylesheet order. */
function presentStyles({ light, dark }: Accent): string {
  const lines = Object.entries(tokens).map(([token, name]) => `${token}:light-dark(${light[name]},${dark[name]})`);
  return `:root:root{${lines.join(";")}}\n`;
}

/** Within a script element only `<` is special; JSON can escape it. */
export function escapeForScript(json: string): string {
  return json.replaceAll("<", "\\u003c").replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029");
}

/** Appends the service's name and support contact to a mail. */
export function addMailFooter(mail: Mail, { name, links }: Brand): Mail {
  const help = links.support === null ? [] : [`Questions: ${links.support.replace(/^mailto:/, "")}`];
  const lines = [name, ...help];
  const html = `<p style="color: #555">${lines.map(escapeHtml).join("<br>")}</p>\n</body></html>`;
  return {
    ...mail,
    text: `${mail.text}\n${lines.join("\n")}\n`,
    html: mail.html.replace("</body></html>", () => html),
  };
}
