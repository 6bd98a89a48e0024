import { findChapter } from "./chapters.ts";

const images = import.meta.glob<string>("../../../../docs/media/{images,drama-video,drama-storyboard,site-consent}.*", {
  query: "?url",
  import: "default",
  eager: true,
});

/** URL of a document's image on this site. */
export function resolveImage(source: string): string | null {
  const name = source.replace("../media/", "");
  return images[`../../../../docs/media/${name}`] ?? null;
}

export type Destination =
  | { kind: "chapter"; id: string; hash: string }
  | { kind: "address"; href: string }
  /** A file of the repository that the site does not serve. */
  | { kind: "nowhere" };

export function resolveLink(href: string): Destination {
  if (/^https?:|^[/#]/.test(href)) return { kind: "address", href };
  if (href === "openapi.json") return { kind: "address", href: "/v1/openapi.json" };
  const [file = "", hash = ""] = href.split("#");
  const chapter = file.endsWith(".md") ? findChapter(file.slice(0, -".md".length)) : null;
  return chapter === null ? { kind: "nowhere" } : { kind: "chapter", id: chapter.id, hash };
}
