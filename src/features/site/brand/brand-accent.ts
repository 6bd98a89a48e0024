/** Red, green and blue, each from 0 to 255. */
type Rgb = readonly [red: number, green: number, blue: number];
type Theme = "light" | "dark";

/** The accent colour for both themes, with derived colours. */
export type Accent = Record<Theme, AccentColours>;
export type AccentColours = { accent: string; strong: string; soft: string; onAccent: string };

const white: Rgb = [255, 255, 255];
const black: Rgb = [0, 0, 0];

/** WCAG 2 AA contrast for text. */
const contrastMin = 4.5;

/** Each theme's worst background for the accent. See `web/src/site.css`. */
const grounds: Record<Theme, Rgb> = { light: [0xee, 0xf2, 0xf3], dark: [0x17, 0x20, 0x24] };
const surfaces: Record<Theme, Rgb> = { light: white, dark: [0x10, 0x17, 0x1a] };
const softShares: Record<Theme, number> = { light: 0.1, dark: 0.16 };

/** `null` if text in this colour is unreadable in the theme. */
export function deriveAccent(hex: string, theme: Theme): AccentColours | null {
  const accent = parseHex(hex);
  const soft = mix(accent, surfaces[theme], 1 - softShares[theme]);
  const behind = [grounds[theme], surfaces[theme], soft];
  if (behind.some((ground) => computeContrast(accent, ground) < contrastMin)) return null;
  return {
    accent: presentHex(accent),
    strong: presentHex(mix(accent, theme === "light" ? black : white, 0.22)),
    soft: presentHex(soft),
    onAccent: presentHex(theme === "light" ? white : mix(black, accent, 0.1)),
  };
}

/** The nearest readable colour, darker or lighter. */
export function findReadable(hex: string, theme: Theme): string {
  const towards = theme === "light" ? black : white;
  for (let share = 0; share < 1; share += 0.01) {
    const candidate = presentHex(mix(parseHex(hex), towards, share));
    if (deriveAccent(candidate, theme) !== null) return candidate;
  }
  return presentHex(towards);
}

/** WCAG 2 contrast ratio, from 1 to 21. */
export function computeContrast(one: Rgb, other: Rgb): number {
  const [lighter = 0, darker = 0] = [computeLuminance(one), computeLuminance(other)].toSorted((a, b) => b - a);
  return (lighter + 0.05) / (darker + 0.05);
}

function computeLuminance(colour: Rgb): number {
  const [red = 0, green = 0, blue = 0] = colour.map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function mix(one: Rgb, other: Rgb, share: number): Rgb {
  const at = (index: 0 | 1 | 2): number => Math.round(one[index] * (1 - share) + other[index] * share);
  return [at(0), at(1), at(2)];
}

export function parseHex(hex: string): Rgb {
  const at = (start: number): number => Number.parseInt(hex.slice(start, start + 2), 16);
  return [at(1), at(3), at(5)];
}

function presentHex(colour: Rgb): string {
  return `#${colour.map((part) => part.toString(16).padStart(2, "0")).join("")}`;
}
