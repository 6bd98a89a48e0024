import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { loadSettings } from "../platform/config/load-settings.ts";
import { readBrandSettings } from "./read-brand-settings.ts";

const read = (environment: Record<string, string>) =>
  readBrandSettings(loadSettings({ environment, directory: tmpdir() }));

test("the defaults are the Sluice brand", () => {
  expect(read({})).toEqual({
    name: "Sluice",
    logo: null,
    accent: null,
    links: { support: null, terms: null, privacy: null, status: "http://localhost:4242/status" },
    announcement: null,
  });
});

test("an unreadable colour is rejected, and the suggested one is accepted", () => {
  const remedyOf = (environment: Record<string, string>): string => {
    try {
      read(environment);
    } catch (error) {
      return String((error as { remedy?: string }).remedy);
    }
    return "";
  };
  const light = /"(#[0-9a-f]{6})"/.exec(remedyOf({ SLUICE_BRAND_ACCENT: "#22c55e" }))?.[1] ?? "";
  const dark = /"(#[0-9a-f]{6})"/.exec(
    remedyOf({ SLUICE_BRAND_ACCENT: light, SLUICE_BRAND_ACCENT_DARK: "#222222" }),
  )?.[1];
  expect(read({ SLUICE_BRAND_ACCENT: light, SLUICE_BRAND_ACCENT_DARK: dark ?? "" }).accent).toMatchObject({
    light: { accent: light },
    dark: { accent: dark },
  });
  expect(remedyOf({ SLUICE_BRAND_ACCENT_DARK: "#ffffff" })).toBe("Set brand_accent too.");
});

test("a logo must be a small image", () => {
  const folder = mkdtempSync(join(tmpdir(), "sluice-brand-"));
  const logoOf = (name: string) => read({ SLUICE_BRAND_LOGO_FILE: join(folder, name) }).logo;
  writeFileSync(join(folder, "logo.SVG"), "<svg/>");
  writeFileSync(join(folder, "large.png"), Buffer.alloc(256 * 1024 + 1));
  expect(logoOf("logo.SVG")).toEqual({ ending: ".svg", bytes: Buffer.from("<svg/>") });
  expect(() => logoOf("large.png")).toThrow(/is too large: 262145 bytes/);
  expect(() => logoOf("logo.exe")).toThrow(/has an unsupported format/);
  expect(() => logoOf("none.png")).toThrow(/Cannot read the logo/);
  rmSync(folder, { recursive: true });
});
