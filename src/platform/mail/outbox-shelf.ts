/** A mail that was kept instead of being sent. */
export type KeptMail = { id: string; to: string; subject: string; text: string; at: Date };

/** The last mails that were not sent, for a developer to read. */
export type OutboxShelf = {
  keep(mail: Omit<KeptMail, "id">): void;
  /** Newest first. */
  list(): readonly KeptMail[];
};

const keptMax = 50;

export function createOutboxShelf(): OutboxShelf {
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
