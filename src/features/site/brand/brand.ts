import type { Accent } from "./brand-accent.ts";

/** What an operator makes of the site's look: whose it is, and what everybody is told there. */
export type Brand = {
  name: string;
  /** In place of our mark: an image, and the ending of its name. */
  logo: { ending: LogoEnding; bytes: Buffer } | null;
  accent: Accent | null;
  links: BrandLinks;
  announcement: { text: string; level: "info" | "warning" | "critical"; url: string | null } | null;
};

type BrandLinks = Record<"support" | "terms" | "privacy" | "status", string | null>;

export const logoEndings = [".svg", ".png", ".jpg"] as const;
type LogoEnding = (typeof logoEndings)[number];
