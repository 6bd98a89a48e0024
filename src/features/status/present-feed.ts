import type { Incident } from "./incident.ts";

type FeedSite = { siteUrl: string; brandName: string };

/** RSS 2.0: one item per update of an incident, newest first. */
export function presentFeed(incidents: readonly Incident[], { siteUrl, brandName }: FeedSite): string {
  const page = `${siteUrl}/status`;
  const items = incidents
    .flatMap((incident) => incident.updates.map((update, index) => ({ incident, update, number: index + 1 })))
    .toSorted((a, b) => b.update.createdAt.getTime() - a.update.createdAt.getTime())
    .flatMap(({ incident, update, number }) => [
      "    <item>",
      `      <title>${escapeXml(`${incident.title}: ${update.state}`)}</title>`,
      `      <link>${escapeXml(`${page}#${incident.id}`)}</link>`,
      `      <guid isPermaLink="false">${incident.id}-${number}</guid>`,
      `      <pubDate>${update.createdAt.toUTCString()}</pubDate>`,
      `      <description>${escapeXml(update.message)}</description>`,
      "    </item>",
    ]);
  return `${[
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom">',
    "  <channel>",
    `    <title>${escapeXml(`${brandName} status`)}</title>`,
    `    <link>${escapeXml(page)}</link>`,
    `    <atom:link href="${escapeXml(`${page}/feed.xml`)}" rel="self" type="application/rss+xml"/>`,
    `    <description>${escapeXml(`Incidents of ${brandName}`)}</description>`,
    ...items,
    "  </channel>",
    "</rss>",
  ].join("\n")}\n`;
}

/** XML has no form for other control characters. */
function escapeXml(text: string): string {
  return text
    .replaceAll(/[^\P{Cc}\n\r\t]/gu, " ")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}
