import { expect, test } from "vitest";
import { fillPageSlots } from "./fill-page-slots.ts";

const parts = {
  mark: "<svg></svg>",
  announcements: {
    "warning linked": '<section><a href="%announcement-url%">%announcement%</a></section>',
    "info plain": "<section>%announcement%</section>",
  },
};
const body = [
  '<section aria-label="Announcement" class="x">%announcement%</section>',
  '<img src="%brand-logo%" alt="" class="size-7"/><span>%brand-name%</span>',
  '<ul aria-label="About this service"><li><a href="%support%">Support</a></li><li><a href="%terms%">Terms</a></li></ul>',
].join("");
const addresses = { siteUrl: "https://ai.example.com", baseUrl: "https://api.example.com/v1" };
const links = { support: null, terms: null, privacy: null, status: null };

test("an unbranded page has the Sluice logo and no empty slots", () => {
  const brand = { name: "Sluice", logo: null, links, announcement: null };
  expect(fillPageSlots(body, { parts, brand, addresses })).toBe("<svg></svg><span>Sluice</span>");
});

test("a branded page has the operator's logo, name, links and announcement, escaped", () => {
  const brand = {
    name: "A & B $& <AI>",
    logo: "/assets/brand-abc.svg",
    links: { ...links, terms: 'https://example.com/?a=1&b="2"' },
    announcement: { text: "<b>%brand-name%</b>", level: "warning" as const, url: "https://example.com/$1" },
  };
  expect(fillPageSlots(body, { parts, brand, addresses })).toBe(
    [
      '<section><a href="https://example.com/$1">&lt;b&gt;%brand-name%&lt;/b&gt;</a></section>',
      '<img src="/assets/brand-abc.svg" alt="" class="size-7"/><span>A &amp; B $&amp; &lt;AI&gt;</span>',
      '<ul aria-label="About this service"><li><a href="https://example.com/?a=1&amp;b=&quot;2&quot;">Terms</a></li></ul>',
    ].join(""),
  );
});

test("address slots are filled, and slots in a brand name are not", () => {
  const brand = { name: "%base-url%", logo: null, links, announcement: null };
  const text = "<code>curl %base-url%/models</code> <code>%site-url%/docs</code> %brand-name%";
  expect(fillPageSlots(text, { parts, brand, addresses })).toBe(
    "<code>curl https://api.example.com/v1/models</code> <code>https://ai.example.com/docs</code> %base-url%",
  );
});
