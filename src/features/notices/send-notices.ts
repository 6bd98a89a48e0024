import type { Clock } from "../../lib/clock.ts";
import type { Database } from "../../platform/database/database.ts";
import { claimNotices } from "./notice-store.ts";
import { composeNotice, type NoticeText } from "./notice-table.ts";

type SendMail = (mail: NoticeText & { to: string; link: { label: string; url: string } }) => void;

const noticesPerRunMax = 500;

/** Marks before sending: after a crash in between, a mail is missing rather than sent twice. The page shows the state too. */
export async function sendNotices({
  database,
  clock,
  siteUrl,
  sendMail,
}: {
  database: Database;
  clock: Clock;
  siteUrl: string;
  sendMail: SendMail;
}): Promise<void> {
  const link = { label: "Open billing", url: `${siteUrl}/console/billing` };
  for (const { kind, facts, email } of await claimNotices(database, { now: clock.now(), limit: noticesPerRunMax })) {
    const text = composeNotice(kind, facts);
    if (text !== null) sendMail({ ...text, to: email, link });
  }
}
