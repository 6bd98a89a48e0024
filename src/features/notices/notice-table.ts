/** The facts of each kind of notice. Amounts are texts with their currency. */
export type NoticeFacts = {
  top_up_declined: { amount: string; card: string };
  top_up_reversed: { payment: string };
  top_up_review: { amount: string; payment: string };
  top_up_cap_reached: { cap: string };
  low_balance: { balance: string; threshold: string };
  key_budget: { key: string; spent: string; budget: string };
  spend_cap: { cap: string; until: string };
  invoice: { title: string; number: string; amount: string };
  credit_note: { title: string; number: string; amount: string };
};

export type NoticeKind = keyof NoticeFacts;

export type NoticeText = { subject: string; before: string[]; after: string[] };

const stillOff = "It stays off until you switch it on again under Billing.";

/** The mail of each kind of notice. Its link leads to the billing page. */
const noticeTable: { [Kind in NoticeKind]: (facts: NoticeFacts[Kind]) => NoticeText } = {
  top_up_declined: ({ amount, card }) => ({
    subject: "Automatic top-up is off: your card was declined",
    before: [`Your bank declined a charge of ${amount} on ${card}. Automatic top-up is now off.`],
    after: ["Pay by card once to save another card, or ask your bank.", stillOff],
  }),
  top_up_reversed: ({ payment }) => ({
    subject: "Automatic top-up is off: a payment was reversed",
    before: [`The payment ${payment} was refunded or disputed. Automatic top-up is now off.`],
    after: [stillOff],
  }),
  top_up_review: ({ amount, payment }) => ({
    subject: "Automatic top-up is off: a charge needs a review",
    before: [`A charge of ${amount} could not be confirmed (${payment}). Automatic top-up is now off.`],
    after: ["If your card was charged and the credit is missing, contact us with this number.", stillOff],
  }),
  top_up_cap_reached: ({ cap }) => ({
    subject: "Automatic top-up has reached its monthly maximum",
    before: [
      `Another top-up would exceed your maximum of ${cap} for this month. Your card is not charged again this month.`,
    ],
    after: ["Raise the maximum or add credit to keep your calls running."],
  }),
  low_balance: ({ balance, threshold }) => ({
    subject: `Your balance is below ${threshold}`,
    before: [`Your balance is ${balance}. Calls are rejected when it does not cover them.`],
    after: ["Add credit or switch automatic top-up on. You can change this mail under Billing."],
  }),
  key_budget: ({ key, spent, budget }) => ({
    subject: "An API key is near its budget",
    before: [`The key ${key} has spent ${spent} of its budget of ${budget}. At the budget, its calls are rejected.`],
    after: ["You can raise the budget under API keys, and change this mail under Billing."],
  }),
  spend_cap: ({ cap, until }) => ({
    subject: "Your account has reached today's maximum",
    before: [`New accounts can spend ${cap} a day. Your account has reached it. Paid calls work again at ${until}.`],
    after: ["Contact us if you need more before then."],
  }),
  invoice: ({ title, number, amount }) => ({
    subject: `${title} ${number}: ${amount}`,
    before: [`We received your payment. Your ${title.toLowerCase()} ${number} over ${amount} is under Billing.`],
    after: ["Your name, address and tax id on later documents are under Billing too."],
  }),
  credit_note: ({ title, number, amount }) => ({
    subject: `${title} ${number}: ${amount}`,
    before: [
      `A payment was refunded or disputed. Your ${title.toLowerCase()} ${number} over ${amount} is under Billing.`,
    ],
    after: ["The credit of this payment was taken back."],
  }),
};

function isNoticeKind(word: string): word is NoticeKind {
  return Object.hasOwn(noticeTable, word);
}

/** `null` for a kind of another version. */
export function composeNotice(kind: string, facts: unknown): NoticeText | null {
  if (!isNoticeKind(kind)) return null;
  // The row was written by `insertNotice`, whose types tie the facts to the kind.
  const compose = noticeTable[kind] as (facts: unknown) => NoticeText;
  return compose(facts);
}
