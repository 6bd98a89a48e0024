/** A mail that was stored instead of sent. */
export type KeptMail = { id: string; to: string; subject: string; text: string; at: Date };

/** The last unsent mails, for local development. */
export type MailOutbox = {
  keep(mail: Omit<KeptMail, "id">): void;
  /** Newest first. */
  list(): readonly KeptMail[];
};

const keptMax = 50;

export function createMailOutbox(): MailOutbox {
  const kept: KeptMail[] = [];
  let count = 0;
  return {
    keep(mail) {
      count += 1;
      kept.unshift({ ...mail, id: String(count) });
      kept.splice(keptMax);
    },
    list: () => [...kept],
  };
}
