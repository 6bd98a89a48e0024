type PageProblem = { param: string | null; message: string };
type PageData =
  | { kind: "connect-error"; problems: PageProblem[] }
  | { kind: "message"; title: string; message: string };

/** The page data block that the server writes, if any. */
export function getPageData(): PageData | null {
  if (import.meta.env.SSR) return null;
  const text = document.getElementById("page-data")?.textContent ?? null;
  // Written and escaped by our server.
  return text === null ? null : (JSON.parse(text) as PageData);
}
