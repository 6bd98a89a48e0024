type PageProblem = { param: string | null; message: string };
type PageData =
  | { kind: "connect-error"; problems: PageProblem[] }
  | { kind: "message"; title: string; message: string };

/** What the server wrote into the page for it to show, if anything. */
export function getPageData(): PageData | null {
  if (import.meta.env.SSR) return null;
  const text = document.getElementById("page-data")?.textContent ?? null;
  // The server escapes and writes it; nobody else can.
  return text === null ? null : (JSON.parse(text) as PageData);
}
