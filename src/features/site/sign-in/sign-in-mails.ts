import type { Mail } from "../../../platform/mail/create-mailer.ts";

export type MailContent = {
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
    before: ["Someone signed up with this e-mail address."],
    link: { label: "Confirm address", url },
    after: [
      "The link works once and expires after 24 hours.",
      "If this was not you, ignore this e-mail. No account is created without the link.",
    ],
  });
}

export function composeKnownAddressMail({ to, signInUrl }: { to: string; signInUrl: string }): Mail {
  return composeMail({
    to,
    subject: "You already have an account",
    before: ["Someone tried to sign up with this e-mail address, which already has an account."],
    link: { label: "Sign in", url: signInUrl },
    after: ["If you forgot your password, reset it there.", "If this was not you, ignore this e-mail."],
  });
}

export function composeResetMail({ to, url }: { to: string; url: string }): Mail {
  return composeMail({
    to,
    subject: "Reset your password",
    before: ["A password reset was requested for this e-mail address."],
    link: { label: "Choose a new password", url },
    after: [
      "The link works once and expires after 1 hour. A new password ends all sessions.",
      "If this was not you, ignore this e-mail. Your password is unchanged.",
    ],
  });
}

/** Sent to the owner, who may not have made the change. */
export function composeChangeMail({ to, change, siteUrl }: { to: string; change: string; siteUrl: string }): Mail {
  return composeMail({
    to,
    subject: change,
    before: [`${change}. If this was you, you can ignore this e-mail.`],
    link: { label: "Reset your password if this was not you", url: `${siteUrl}/reset-password` },
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
