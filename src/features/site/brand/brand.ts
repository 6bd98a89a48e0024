import type { Accent } from "./brand-accent.ts";

/** The operator's branding. */
export type Brand = {
  name: string;
  /** Replaces our logo: an image, and its file extension. */
  logo: { ending: LogoEnding; bytes: Buffer } | null;
  accent: Accent | null;
  links: BrandLinks;
  announcement: { text: string; level: "info" | "warning" | "critical"; url: string | null } | null;
};

type BrandLinks = Record<"support" | "terms" | "privacy" | "status", string | null>;

export const logoEndings = [".svg", ".png", ".jpg"] as const;
type LogoEnding = (typeof logoEndings)[number];
