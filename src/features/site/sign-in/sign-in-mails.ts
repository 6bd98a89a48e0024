import type { Mail } from "../../../platform/mail/create-mailer.ts";

type MailContent = {
  to: string;
  subject: string;
  /** Paragraphs before and after the link. */
  before: readonly string[];
  link?: { label: string; url: string };
  after: readonly string[];
};

export function composeVerifyMail({ to, url }: { to: string; url: string }): Mail {
  return composeMail({
    to,
    subject: "Confirm your e-mail address",
    before: ["This address was used to sign up."],
    link: { label: "Confirm the address", url },
    after: [
      "The link works once, for 24 hours.",
      "If it was not you, do nothing: without the link there is no account.",
    ],
  });
}

export function composeKnownAddressMail({ to, signInUrl }: { to: string; signInUrl: string }): Mail {
  return composeMail({
    to,
    subject: "You have an account already",
    before: ["This address was used to sign up, but it has an account already."],
    link: { label: "Sign in", url: signInUrl },
    after: ["If you do not remember the password, reset it there.", "If it was not you, do nothing."],
  });
}

export function composeResetMail({ to, url }: { to: string; url: string }): Mail {
  return composeMail({
    to,
    subject: "Reset your password",
    before: ["A new password was requested for this address."],
    link: { label: "Choose a new password", url },
    after: [
      "The link works once, for one hour. A new password ends all sessions.",
      "If it was not you, do nothing: the password stays as it is.",
    ],
  });
}

/** Told after the fact, so that an owner who did not do it learns of it. */
export function composeChangeMail({ to, change, siteUrl }: { to: string; change: string; siteUrl: string }): Mail {
  return composeMail({
    to,
    subject: change,
    before: [`${change}. If it was you, there is nothing to do.`],
    link: { label: "Reset the password if it was not you", url: `${siteUrl}/reset-password` },
    after: ["A new password ends all sessions."],
  });
}

export function composeMail({ to, subject, before, link, after }: MailContent): Mail {
  const linkText = link === undefined ? [] : [`${link.label}:\n${link.url}`];
  const linkHtml = link === undefined ? [] : [`<p><a href="${escapeHtml(link.url)}">${escapeHtml(link.label)}</a></p>`];
  const paragraphs = (texts: readonly string[]): string[] => texts.map((text) => `<p>${escapeHtml(text)}</p>`);
  return {
    to,
    subject,
    text: `${[...before, ...linkText, ...after].join("\n\n")}\n`,
    html: [
      '<!doctype html><html lang="en"><body style="font-family: sans-serif; line-height: 1.5; max-width: 36em">',
      ...paragraphs(before),
      ...linkHtml,
      ...paragraphs(after),
      "</body></html>",
    ].join("\n"),
  };
}

export function escapeHtml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
