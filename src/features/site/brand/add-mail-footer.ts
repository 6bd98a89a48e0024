import type { Mail } from "../../../platform/mail/create-mailer.ts";
import { escapeHtml } from "../sign-in/sign-in-mails.ts";
import type { Brand } from "./brand.ts";

/** Appends the service's name and support contact to a mail. */
export function addMailFooter(mail: Mail, { name, links }: Pick<Brand, "name" | "links">): Mail {
  const help = links.support === null ? [] : [`Questions: ${links.support.replace(/^mailto:/, "")}`];
  const lines = [name, ...help];
  const html = `<p style="color: #555">${lines.map(escapeHtml).join("<br>")}</p>\n</body></html>`;
  return {
    ...mail,
    text: `${mail.text}\n${lines.join("\n")}\n`,
    html: mail.html.replace("</body></html>", () => html),
  };
}
