import { useState } from "react";

export const themes = ["system", "light", "dark"] as const;
export type Theme = (typeof themes)[number];

export const themeNames: Record<Theme, string> = { system: "System", light: "Light", dark: "Dark" };

const aYearSeconds = 365 * 24 * 60 * 60;

/** The theme and its setter. The server renders the chosen theme into the page before the first paint. */
export function useTheme(): [theme: Theme, choose: (theme: Theme) => void] {
  const [theme, setTheme] = useState(
    () =>
      (import.meta.env.SSR ? null : themes.find((each) => each === document.documentElement.dataset.theme)) ?? "system",
  );
  const choose = (next: Theme) => {
    setTheme(next);
    applyTheme(next);
  };
  return [theme, choose];
}

/** Applies the theme now, and stores it in a cookie for the next page load. */
function applyTheme(theme: Theme): void {
  document.documentElement.dataset.theme = theme;
  const lifetime = theme === "system" ? 0 : aYearSeconds;
  const secure = location.protocol === "https:" ? "; secure" : "";
  // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API is not in every browser.
  document.cookie = `sluice-theme=${theme}; path=/; max-age=${lifetime}; samesite=lax${secure}`;
}
