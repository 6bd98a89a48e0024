export const themes = ["system", "light", "dark"] as const;
export type Theme = (typeof themes)[number];

const aYearSeconds = 365 * 24 * 60 * 60;

/** The server wrote the choice into the page before it was painted. */
export function readTheme(): Theme {
  const written = document.documentElement.dataset.theme;
  return themes.find((theme) => theme === written) ?? "system";
}

/** Changes the colours now, and by a cookie also in the next page that the server sends. */
export function chooseTheme(theme: Theme): void {
  document.documentElement.dataset.theme = theme;
  const lifetime = theme === "system" ? 0 : aYearSeconds;
  const secure = location.protocol === "https:" ? "; secure" : "";
  // biome-ignore lint/suspicious/noDocumentCookie: the newer cookie store is not in every browser.
  document.cookie = `sluice-theme=${theme}; path=/; max-age=${lifetime}; samesite=lax${secure}`;
}
