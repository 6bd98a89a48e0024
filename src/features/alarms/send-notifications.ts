import type { Clock } from "../../lib/clock.ts";
import type { Database } from "../../platform/database/database.ts";
import { type GuardedClient, GuardedFetchError } from "../../platform/net/guarded-client.ts";
import type { Logger } from "../../platform/observability/logger.ts";
import { signEvent } from "../webhooks/index.ts";
import { composeEvent, composeMail, composeSlackMessage, type MailText } from "./compose-notification.ts";
import {
  type ClaimedNotification,
  claimNotifications,
  endNotification,
  type NotificationChannel,
} from "./notification-store.ts";

/** Where alarms are reported. `null` for a channel that is not set. */
export type AlarmChannels = {
  /** The addresses, read when a mail is sent. */
  mail: { listRecipients(): Promise<readonly string[]>; send(mail: MailText & { to: string }): void } | null;
  /** Signed as webhooks to customers are. */
  webhook: { url: string; secret: string } | null;
  slack: { url: string } | null;
  /** May call private addresses: operators choose them. */
  client: Pick<GuardedClient, "post">;
  siteUrl: string;
};

export function listChannels(channels: AlarmChannels): NotificationChannel[] {
  return (["mail", "webhook", "slack"] as const).filter((name) => channels[name] !== null);
}

type Sending = { database: Database; logger: Logger; channels: AlarmChannels; surroundings: { clock: Clock } };

const notificationsPerRunMax = 100;
const minuteMs = 60_000;
const attemptMs = 10_000;
const answerBytesMax = 1024;
/** Longer than an attempt: a killed process's claim is made again. */
const claimMs = minuteMs;
/** About a day in total. */
const retryMinutes = [1, 2, 5, 10, 30, 60, 120, 240, 480, 480];

/** Sends what is due, one after the other, and plans the next attempt of what failed. */
export async function sendNotifications(sending: Sending, signal: AbortSignal): Promise<void> {
  const { database, surroundings } = sending;
  for (let sent = 0; sent < notificationsPerRunMax && !signal.aborted; sent += 1) {
    const now = surroundings.clock.now();
    const [claimed] = await claimNotifications(database, {
      ...{ now, retryAt: new Date(now.getTime() + claimMs), limit: 1 },
    });
    if (claimed === undefined) return;
    await attempt(sending, claimed, signal);
  }
}

async function attempt(sending: Sending, claimed: ClaimedNotification, signal: AbortSignal): Promise<void> {
  const { database, logger, surroundings } = sending;
  const { id, channel, attempts } = claimed;
  const trouble = await send(sending, claimed, signal);
  const now = surroundings.clock.now();
  if (trouble === null) return await endNotification(database, id, { state: "sent", endedAt: now, trouble });
  if (signal.aborted) return;
  const waitMinutes = retryMinutes[attempts - 1];
  logger.warn({ notification: id, channel, attempts, trouble }, "alarm notification failed");
  if (waitMinutes === undefined) return await endNotification(database, id, { state: "failed", endedAt: now, trouble });
  const dueAt = new Date(now.getTime() + waitMinutes * minuteMs);
  await endNotification(database, id, { state: "waiting", dueAt, trouble });
}

/** Returns why it failed; `null` if it was accepted. */
async function send(
  { channels, surroundings }: Sending,
  { id, channel, facts }: ClaimedNotification,
  signal: AbortSignal,
): Promise<string | null> {
  const { mail, webhook, slack, siteUrl } = channels;
  switch (channel) {
    case "mail": {
      if (mail === null) return "Mail is no longer set.";
      const recipients = await mail.listRecipients();
      if (recipients.length === 0) return "There are no recipients: set alarm_mails.";
      // The mailer retries by itself.
      for (const to of recipients) mail.send({ ...composeMail(facts, siteUrl), to });
      return null;
    }
    case "webhook": {
      if (webhook === null) return "alarm_webhook_url is no longer set.";
      const body = JSON.stringify(composeEvent(id, facts, siteUrl));
      const signed = signEvent({ id, body, sentAt: surroundings.clock.now() }, [webhook.secret]);
      return await post(channels, { url: webhook.url, body, headers: signed, signal });
    }
    case "slack": {
      if (slack === null) return "alarm_slack_url is no longer set.";
      return await post(channels, {
        url: slack.url,
        body: JSON.stringify(composeSlackMessage(facts, siteUrl)),
        headers: {},
        signal,
      });
    }
  }
}

type Post = { url: string; body: string; headers: Record<string, string>; signal: AbortSignal };

/** Leaves the address out of the reason: a Slack address is a secret. */
async function post({ client }: AlarmChannels, { url, body, headers, signal }: Post): Promise<string | null> {
  try {
    const { status } = await client.post(url, {
      headers: { "content-type": "application/json", "user-agent": "Sluice", ...headers },
      ...{ body, bytesMax: answerBytesMax, timeoutMs: attemptMs, signal },
    });
    return status >= 200 && status < 300 ? null : `The receiver answered ${status}.`;
  } catch (error) {
    return error instanceof GuardedFetchError ? error.message : "The request failed.";
  }
}
