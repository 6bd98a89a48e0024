import { themeNames, themes, useTheme } from "./use-theme.ts";

export function ThemeChoice() {
  const [chosen, choose] = useTheme();
  return (
    <fieldset className="flex gap-1 text-xs text-ink-soft">
      <legend className="sr-only">Theme</legend>
      {themes.map((theme) => (
        <label
          key={theme}
          className="cursor-pointer rounded-sm px-2 py-1 hover:text-ink has-checked:bg-line has-checked:text-ink has-focus-visible:outline-2 has-focus-visible:outline-accent"
        >
          <input
            type="radio"
            name="theme"
            value={theme}
            checked={theme === chosen}
            onChange={() => choose(theme)}
            className="sr-only"
          />
          {themeNames[theme]}
        </label>
      ))}
    </fieldset>
  );
}
