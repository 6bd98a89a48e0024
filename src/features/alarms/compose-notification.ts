import { presentValue } from "./alarm-rules.ts";
import type { NotificationFacts } from "./notification-store.ts";

export type MailText = {
  subject: string;
  before: string[];
  link: { label: string; url: string };
  after: string[];
};

const docsPath = "docs/operating";

export function composeMail(facts: NotificationFacts, siteUrl: string): MailText {
  const { kind, title, subject, severity, message, began_at: beganAt } = facts;
  const isOver = kind === "resolved";
  return {
    subject: `${isOver ? "Resolved" : severity === "page" ? "Alarm" : "Alarm (ticket)"}: ${title}${presentSubject(subject)}`,
    before: [isOver ? `This alarm is resolved. Its last reading was: ${message}` : message],
    link: { label: "Open alarms", url: presentLink(siteUrl, facts) },
    after: [
      `Since ${beganAt}. Last value: ${presentFacts(facts)}.`,
      ...(facts.run_book === null ? [] : [`What to do: ${docsPath}/${facts.run_book}`]),
    ],
  };
}

/** The body of a webhook, in the form of events to customers. */
export function composeEvent(id: string, facts: NotificationFacts, siteUrl: string) {
  const { kind, at, run_book: section, began_at: beganAt, alarm_id: alarmId, ...data } = facts;
  return {
    id,
    type: `alarm.${kind}`,
    created: Math.floor(Date.parse(at) / 1000),
    data: {
      ...{ alarm_id: alarmId, ...data, began_at: beganAt, url: presentLink(siteUrl, facts) },
      run_book: section === null ? null : `${docsPath}/${section}`,
    },
  };
}

/** The payload of Slack's incoming webhooks, which Mattermost, Rocket.Chat and Discord (`/slack`) accept too. */
export function composeSlackMessage(facts: NotificationFacts, siteUrl: string): { text: string } {
  const { kind, title, subject, severity, message } = facts;
  const sign = kind === "resolved" ? "✅ Resolved" : severity === "page" ? "🔴 Alarm" : "🟠 Alarm";
  const link = `<${presentLink(siteUrl, facts)}|Open alarms>`;
  const text = [`*${sign}: ${escapeSlack(title)}${escapeSlack(presentSubject(subject))}*`, escapeSlack(message), link];
  return { text: text.join("\n") };
}

function presentSubject(subject: string): string {
  return subject === "service" ? "" : ` (${subject})`;
}

function presentFacts({ value, unit, currency }: NotificationFacts): string {
  return presentValue(value, unit, currency);
}

function presentLink(siteUrl: string, { alarm_id: id }: NotificationFacts): string {
  return `${siteUrl}/console/admin/alarms/${id}`;
}

/** Slack takes these as markup. */
function escapeSlack(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
